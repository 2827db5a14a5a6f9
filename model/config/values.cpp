// SPDX-License-Identifier: Apache-2.0
#include "model/config/alike.hpp"
#include "model/config/key_table.hpp"
#include "model/config/load.hpp"
#include "model/config/value_text.hpp"

namespace npu::model {
namespace {

class Collector {
 public:
  explicit Collector(const SystemConfig& system) : system_(system) {}

  std::vector<ReplacedKey> values() {
    table(system_table(), &system_, "");
    return std::move(values_);
  }

 private:
  // The names are those that overrides have.
  void table(const Table& table, const void* object, const std::string& prefix) {
    for (const auto& key : table.keys) add(key, object, prefix);
  }

  void add(const Key& key, const void* object, const std::string& prefix) {
    const std::string name = prefix + key.name;
    if (const auto section = section_of(key, object)) {
      const bool is_host = section->table == &host_table();
      return table(*section->table, section->object, is_host ? "" : name + ".");
    }
    if (const auto items = items_of(key, object)) {
      std::size_t i = 0;
      for (const auto& [keys, item] : *items) {
        table(*keys, item, name + "." + std::to_string(i++) + ".");
      }
      return;
    }
    if (key.type == KeyType::kChip) {
      const int card = static_cast<const PciNodeConfig*>(object)->card;
      return chip(*key.table, system_.cards[static_cast<std::size_t>(card)],
                  "cards." + std::to_string(card) + ".");
    }
    values_.push_back({name, decimal_text(key, key.load(object)), is_word(key)});
  }

  // One that is like the last one has its values.
  void chip(const Table& keys, const ChipConfig& chip, const std::string& prefix) {
    const std::size_t begin = values_.size();
    if (last_.chip == nullptr || !alike(keys, last_.chip, &chip)) {
      table(keys, &chip, prefix);
      last_ = {&chip, prefix.size(), begin, values_.size()};
      return;
    }
    for (std::size_t i = last_.begin; i < last_.end; ++i) {
      ReplacedKey same = values_[i];
      same.key.replace(0, last_.prefix, prefix);
      values_.push_back(std::move(same));
    }
  }

  const SystemConfig& system_;
  std::vector<ReplacedKey> values_;
  struct {
    const ChipConfig* chip = nullptr;
    std::size_t prefix = 0;          // length of that of its keys
    std::size_t begin = 0, end = 0;  // of its values
  } last_;
};

}  // namespace

std::vector<ReplacedKey> all_values(const SystemConfig& config) {
  return Collector(config).values();
}

}  // namespace npu::model
