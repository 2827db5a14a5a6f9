// SPDX-License-Identifier: Apache-2.0
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
      return table(*key.table, &system_.cards[static_cast<std::size_t>(card)],
                   "cards." + std::to_string(card) + ".");
    }
    values_.push_back({name, decimal_text(key, key.load(object)), is_word(key)});
  }

  const SystemConfig& system_;
  std::vector<ReplacedKey> values_;
};

}  // namespace

std::vector<ReplacedKey> all_values(const SystemConfig& config) {
  return Collector(config).values();
}

}  // namespace npu::model
