// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/config/fabric_keys.hpp"
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

  // Loading goes through void pointers, and keys hand out parts of an object by a function that
  // filling shares; nothing is written here.
  static const void* part(const Key& key, const void* object) {
    return key.member(const_cast<void*>(object));
  }

  void table(const Table& table, const void* object, int depth) {
    if (table.derived) text_ += indent(depth) + "# " + table.derived(object) + "\n";
    for (const auto& key : table.keys) write_key(key, object, depth);
  }

  void write_key(const Key& key, const void* object, int depth) {
    text_ += indent(depth) + key.name + ":";
    switch (key.type) {
      case KeyType::kSection:
      case KeyType::kFabric:
      case KeyType::kFile:
        text_ += "\n";
        table(*key.table, part(key, object), depth + 1);
        return;
      case KeyType::kChip: {
        const int card = static_cast<const PciNodeConfig*>(object)->card;
        text_ += fmt::format("  # card {}\n", card);
        table(*key.table, &system_.cards[static_cast<std::size_t>(card)], depth + 1);
        return;
      }
      case KeyType::kNodes:
        list(*static_cast<const std::vector<PciNodeConfig>*>(part(key, object)), depth);
        return;
      case KeyType::kBridges:
        list(*static_cast<const std::vector<HostBridgeConfig>*>(part(key, object)), depth);
        return;
      case KeyType::kFabricParts:
        list(*static_cast<const std::vector<FabricPart>*>(part(key, object)), depth);
        return;
      case KeyType::kTemplates:
        list(*static_cast<const std::vector<VirtualTemplateConfig>*>(part(key, object)), depth);
        return;
      case KeyType::kTexts:
        texts(keys::texts_of(key.load(object).text), depth);
        return;
      default:
        text_ += " " + value_text(key, key.load(object)) + "\n";
    }
  }

  void texts(const std::vector<std::string>& items, int depth) {
    text_ += items.empty() ? " []\n" : "\n";
    for (const auto& item : items) text_ += indent(depth + 1) + "- \"" + item + "\"\n";
  }

  static const Table& table_of(const PciNodeConfig& node) { return node_table(node.kind); }
  static const Table& table_of(const HostBridgeConfig&) { return host_bridge_table(); }
  static const Table& table_of(const FabricPart& part) { return fabric_part_table(part.form); }
  static const Table& table_of(const VirtualTemplateConfig&) { return virtual_template_table(); }

  template <class Item>
  void list(const std::vector<Item>& items, int depth) {
    text_ += items.empty() ? " []\n" : "\n";
    for (const auto& item : items) {
      text_ += indent(depth + 1) + "-\n";
      table(table_of(item), &item, depth + 2);
    }
  }

  const SystemConfig& system_;
  std::string text_;
};

}  // namespace

std::string show_system(const SystemConfig& config) {
  return Writer(config).text();
}

}  // namespace npu::model
