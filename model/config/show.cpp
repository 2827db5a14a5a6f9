// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/config/alike.hpp"
#include "model/config/key_table.hpp"
#include "model/config/load.hpp"
#include "model/config/value_text.hpp"

namespace npu::model {
namespace {

class Writer {
 public:
  explicit Writer(const SystemConfig& system) : system_(system) {}

  std::string text() {
    text_ = "schema: " + system_table().schema + "\n";
    table(system_table(), &system_, 0);
    return text_;
  }

 private:
  std::string indent(int depth) const {
    return std::string(static_cast<std::size_t>(depth) * 2, ' ');
  }

  void table(const Table& table, const void* object, int depth) {
    if (table.derived) text_ += indent(depth) + "# " + table.derived(object) + "\n";
    for (const auto& key : table.keys) write_key(key, object, depth);
  }

  void write_key(const Key& key, const void* object, int depth) {
    text_ += indent(depth) + key.name + ":";
    if (const auto section = section_of(key, object)) {
      text_ += "\n";
      return table(*section->table, section->object, depth + 1);
    }
    if (const auto items = items_of(key, object)) return list(*items, depth);
    if (key.type == KeyType::kChip) {
      const int card = static_cast<const PciNodeConfig*>(object)->card;
      text_ += fmt::format("  # card {}\n", card);
      return chip(*key.table, system_.cards[static_cast<std::size_t>(card)], depth + 1);
    }
    if (key.type == KeyType::kTexts) return texts(keys::texts_of(key.load(object).text), depth);
    text_ += " " + value_text(key, key.load(object)) + "\n";
  }

  // One that is like the last one has its text.
  void chip(const Table& keys, const ChipConfig& chip, int depth) {
    if (last_.chip != nullptr && last_.depth == depth && alike(keys, last_.chip, &chip)) {
      text_ += text_.substr(last_.begin, last_.length);
      return;
    }
    const std::size_t begin = text_.size();
    table(keys, &chip, depth);
    last_ = {&chip, depth, begin, text_.size() - begin};
  }

  void texts(const std::vector<std::string>& items, int depth) {
    text_ += items.empty() ? " []\n" : "\n";
    for (const auto& item : items) text_ += indent(depth + 1) + "- \"" + item + "\"\n";
  }

  void list(const std::vector<KeyedPart>& items, int depth) {
    text_ += items.empty() ? " []\n" : "\n";
    for (const auto& [keys, item] : items) {
      text_ += indent(depth + 1) + "-\n";
      table(*keys, item, depth + 2);
    }
  }

  const SystemConfig& system_;
  std::string text_;
  struct {
    const ChipConfig* chip = nullptr;
    int depth = 0;
    std::size_t begin = 0, length = 0;  // of its text
  } last_;
};

}  // namespace

std::string show_system(const SystemConfig& config) {
  return Writer(config).text();
}

}  // namespace npu::model
