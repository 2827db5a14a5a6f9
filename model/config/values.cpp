// SPDX-License-Identifier: Apache-2.0
#include "model/config/fabric_keys.hpp"
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
  // As show_system() does: nothing is written through it.
  static const void* part(const Key& key, const void* object) {
    return key.member(const_cast<void*>(object));
  }

  // The names are those that overrides have.
  void table(const Table& table, const void* object, const std::string& prefix) {
    for (const auto& key : table.keys) add(key, object, prefix);
  }

  void add(const Key& key, const void* object, const std::string& prefix) {
    const std::string name = prefix + key.name;
    switch (key.type) {
      case KeyType::kSection:
      case KeyType::kFabric:
      case KeyType::kFile: {
        const bool is_host = key.table == &host_table();
        table(*key.table, part(key, object), is_host ? "" : name + ".");
        return;
      }
      case KeyType::kChip: {
        const int card = static_cast<const PciNodeConfig*>(object)->card;
        table(*key.table, &system_.cards[static_cast<std::size_t>(card)],
              "cards." + std::to_string(card) + ".");
        return;
      }
      case KeyType::kNodes:
        list(*static_cast<const std::vector<PciNodeConfig>*>(part(key, object)), name);
        return;
      case KeyType::kBridges:
        list(*static_cast<const std::vector<HostBridgeConfig>*>(part(key, object)), name);
        return;
      case KeyType::kFabricParts:
        list(*static_cast<const std::vector<FabricPart>*>(part(key, object)), name);
        return;
      case KeyType::kTemplates:
        list(*static_cast<const std::vector<VirtualTemplateConfig>*>(part(key, object)), name);
        return;
      default:
        values_.push_back({name, decimal_text(key, key.load(object)), is_word(key)});
    }
  }

  static const Table& table_of(const PciNodeConfig& node) { return node_table(node.kind); }
  static const Table& table_of(const HostBridgeConfig&) { return host_bridge_table(); }
  static const Table& table_of(const FabricPart& part) { return fabric_part_table(part.form); }
  static const Table& table_of(const VirtualTemplateConfig&) { return virtual_template_table(); }

  template <class Item>
  void list(const std::vector<Item>& items, const std::string& name) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      table(table_of(items[i]), &items[i], name + "." + std::to_string(i) + ".");
    }
  }

  const SystemConfig& system_;
  std::vector<ReplacedKey> values_;
};

}  // namespace

std::vector<ReplacedKey> all_values(const SystemConfig& config) {
  return Collector(config).values();
}

}  // namespace npu::model
