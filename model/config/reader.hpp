// SPDX-License-Identifier: Apache-2.0
// Fills the configuration's structs from YAML by walking the key tables.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/config/find_config.hpp"
#include "model/config/key_table.hpp"
#include "model/config/overrides.hpp"
#include "model/config/yaml_document.hpp"

namespace npu::model {

// Where each value came from, by full dotted path.
using SourceMap = std::map<std::string, SourcePlace>;

class Reader {
 public:
  Reader(Overrides& overrides, const std::vector<std::string>& search_paths)
      : overrides_(overrides), files_(search_paths) {}

  // `document` is a chip or a system file.
  ConfigResult<SystemConfig> read(const YamlNode& document);
  // `document` is a file of one table: an object of the type the table fills.
  ConfigResult<void> read_into(const Table& table, void* object, const YamlNode& document);
  SourceMap sources() const;

 private:
  using Status = ConfigResult<void>;

  Status check_names(const Table& table, const YamlNode& node, const KeyPath& path, bool is_file);
  Status read_table(const Table& table, void* object, const YamlNode& node, const KeyPath& path,
                    bool is_file = false);
  Status read_key(const Key& key, void* object, const YamlNode& node, const KeyPath& path);
  Status read_file(const Table& table, void* object, const YamlNode& node, const KeyPath& path);
  ConfigResult<const YamlNode*> whole_chip(const YamlNode& file);
  Status read_chip(PciNodeConfig& node, const YamlNode& yaml, const KeyPath& path);
  template <class Item>
  Status read_list(std::vector<Item>& items, const Table& table, const std::string& allowed,
                   const YamlNode& yaml, const KeyPath& path);
  Status read_fabric(const Key& key, void* object, const YamlNode& yaml, const KeyPath& path);
  Status read_parts(std::vector<FabricPart>& parts, const YamlNode& yaml, const KeyPath& path);
  Status read_nodes(std::vector<PciNodeConfig>& nodes, const YamlNode& yaml, const KeyPath& path);
  Status read_node(PciNodeConfig& node, const YamlNode& yaml, const KeyPath& path);
  Status read_cards(std::vector<PciNodeConfig>& nodes, PciNodeConfig first, const YamlNode& yaml,
                    const KeyPath& path);
  ConfigResult<const YamlNode*> lone_chips_system(const YamlNode& chip);

  Overrides& overrides_;
  ConfigFiles files_;
  std::map<std::string, YamlNode> whole_chips_;  // with their bases, by file, line, column
  SystemConfig system_{};
  SourceMap sources_;  // without cards that are like an earlier one
  // Cards by their chips, whose files are read once: the first one, and those that are like it.
  std::map<const YamlNode*, std::vector<std::size_t>> cards_of_;
  std::optional<YamlNode> lone_chip_;  // a chip file given instead of a system file
};

}  // namespace npu::model
