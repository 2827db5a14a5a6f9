// SPDX-License-Identifier: Apache-2.0
#include "model/config/reader.hpp"

#include "model/config/base_file.hpp"
#include "model/config/fabric_keys.hpp"
#include "model/config/value_text.hpp"
#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"

namespace npu::model {
namespace {

tl::unexpected<ConfigError> refuse(const YamlNode& node, const KeyPath& path,
                                   const std::string& allowed) {
  ConfigError error = error_at(node.place, path.local, "");
  error.found = describe(node);
  error.allowed = allowed;
  return tl::unexpected(error);
}

const char* const kSchemaKey = "schema";
const char* const kSystemKey = "system";
const char* const kBaseKey = "base";  // base_file.hpp

// Keys that only a file has, beside those of its table.
std::vector<std::string> file_keys(const Table& table) {
  std::vector<std::string> names{kSchemaKey};
  if (&table == &chip_table()) names.push_back(kSystemKey);
  if (&table == &chip_table() || &table == &host_table()) names.push_back(kBaseKey);
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  for (const auto& each : names) {
    if (each == name) return true;
  }
  return false;
}

ConfigResult<void> check_schema(const YamlNode& file, const std::vector<std::string>& schemas) {
  if (file.kind != YamlNode::Kind::kMap) {
    return refuse(file, {}, "keys, the first being 'schema: " + schemas.front() + "'");
  }
  const auto* entry = file.find(kSchemaKey);
  if (entry == nullptr) {
    ConfigError error = error_at(file.place, kSchemaKey, "missing key");
    error.allowed = schemas.front();
    return tl::unexpected(error);
  }
  if (contains(schemas, entry->value.text)) return {};
  std::string allowed = schemas.front();
  for (std::size_t i = 1; i < schemas.size(); ++i) allowed += ", " + schemas[i];
  return refuse(entry->value, {"", kSchemaKey}, allowed);
}

}  // namespace

ConfigResult<SystemConfig> Reader::read(const YamlNode& document) {
  const auto schema = check_schema(document, {chip_table().schema, system_table().schema});
  if (!schema) return tl::unexpected(schema.error());
  const YamlNode* system = &document;
  if (document.find(kSchemaKey)->value.text == chip_table().schema) {
    const auto chip = whole_chip(document);
    if (!chip) return tl::unexpected(chip.error());
    const auto around = lone_chips_system(**chip);
    if (!around) return tl::unexpected(around.error());
    system = *around;
    lone_chip_ = document;
  }
  system_.path = document.place.file;
  const auto done = read_table(system_table(), &system_, *system, {}, true);
  if (!done) return tl::unexpected(done.error());
  const auto used = overrides_.check_all_used();
  if (!used) return tl::unexpected(used.error());
  system_.replaced = overrides_.resolved();
  return system_;
}

ConfigResult<void> Reader::read_into(const Table& table, void* object, const YamlNode& document) {
  if (auto schema = check_schema(document, {table.schema}); !schema) return schema;
  return read_table(table, object, document, {}, true);
}

ConfigResult<const YamlNode*> Reader::lone_chips_system(const YamlNode& chip) {
  const auto* entry = chip.find(kSystemKey);
  if (entry == nullptr) {
    ConfigError error = error_at(chip.place, kSystemKey, "missing key");
    error.allowed = "the system file for this chip file given alone";
    return tl::unexpected(error);
  }
  const auto file = files_.read_reference(entry->value, kSystemKey);
  if (!file) return file;
  const auto schema = check_schema(**file, {system_table().schema});
  if (!schema) return tl::unexpected(schema.error());
  return file;
}

// Unknown names first: a misspelt key is also a missing one, and the name is the better message.
Reader::Status Reader::check_names(const Table& table, const YamlNode& node, const KeyPath& path,
                                   bool is_file) {
  if (node.kind != YamlNode::Kind::kMap) return refuse(node, path, "a section of keys");
  std::map<std::string, const SourcePlace*> seen;
  for (const auto& entry : node.entries) {
    if (table.find(entry.key) == nullptr && !(is_file && contains(file_keys(table), entry.key))) {
      ConfigError error =
          error_at(entry.place, path.local, "unknown key '" + shortened(entry.key) + "'");
      error.suggestion = nearest_name(entry.key, table.names());
      return tl::unexpected(error);
    }
    const auto [first, fresh] = seen.emplace(entry.key, &entry.place);
    if (!fresh) {
      return tl::unexpected(error_at(entry.place, path.local,
                                     "duplicate key '" + shortened(entry.key) +
                                         "', first on line " +
                                         std::to_string(first->second->line)));
    }
  }
  return {};
}

Reader::Status Reader::read_table(const Table& table, void* object, const YamlNode& node,
                                  const KeyPath& path, bool is_file) {
  if (auto names = check_names(table, node, path, is_file); !names) return names;
  for (const auto& key : table.keys) {
    const KeyPath place = path.child(key.name);
    const auto* entry = node.find(key.name);
    const YamlNode* const given = overrides_.find(place);
    const YamlNode* value = given;
    if (value == nullptr && entry != nullptr) value = &entry->value;
    if (value == nullptr && key.type == KeyType::kChip && lone_chip_) value = &*lone_chip_;
    if (value == nullptr && key.type == KeyType::kTexts) continue;
    if (value == nullptr) {
      ConfigError error = error_at(node.place, path.local, "missing key '" + key.name + "'");
      error.allowed = key.allowed();
      return tl::unexpected(error);
    }
    sources_[place.full()] = value->place;
    if (auto done = read_key(key, object, *value, place); !done) return done;
    if (given != nullptr && key.load) {
      overrides_.resolve(place, decimal_text(key, key.load(object)), is_word(key));
    }
  }
  return {};
}

Reader::Status Reader::read_key(const Key& key, void* object, const YamlNode& node,
                                const KeyPath& path) {
  switch (key.type) {
    case KeyType::kSection:
      return read_table(*key.table, key.member(object), node, path);
    case KeyType::kFile:
      return read_file(*key.table, key.member(object), node, path);
    case KeyType::kChip:
      return read_chip(*static_cast<PciNodeConfig*>(object), node, path);
    case KeyType::kFabric:
      return read_fabric(key, object, node, path);
    case KeyType::kFabricParts:
      return read_parts(*static_cast<std::vector<FabricPart>*>(key.member(object)), node, path);
    case KeyType::kNodes:
      return read_nodes(*static_cast<std::vector<PciNodeConfig>*>(key.member(object)), node, path);
    case KeyType::kBridges:
      return read_list(*static_cast<std::vector<HostBridgeConfig>*>(key.member(object)),
                       host_bridge_table(), "a list of host bridges", node, path);
    case KeyType::kTemplates:
      return read_list(*static_cast<std::vector<VirtualTemplateConfig>*>(key.member(object)),
                       virtual_template_table(), "a list of templates", node, path);
    default:
      break;
  }
  const auto value = parse_value(key, node, path.local);
  if (!value) return tl::unexpected(value.error());
  key.store(object, *value);
  return {};
}

Reader::Status Reader::read_file(const Table& table, void* object, const YamlNode& node,
                                 const KeyPath& path) {
  // The tables of a host file are the system's own: `cpu.cores`, not `host.cpu.cores`.
  const KeyPath inside = &table == &host_table() ? KeyPath{} : path;
  if (node.kind == YamlNode::Kind::kMap) {
    return read_table(table, object, node, inside);
  }
  const auto file = files_.read_reference(node, path.local);
  if (!file) return tl::unexpected(file.error());
  if (auto schema = check_schema(**file, {table.schema}); !schema) return schema;
  const auto whole = with_base(**file, table.schema, files_);
  if (!whole) return tl::unexpected(whole.error());
  return read_table(table, object, *whole, inside, true);
}

ConfigResult<const YamlNode*> Reader::whole_chip(const YamlNode& file) {
  const std::string place = file.place.file + ":" + std::to_string(file.place.line) + ":" +
                            std::to_string(file.place.column);
  auto found = whole_chips_.find(place);
  if (found == whole_chips_.end()) {
    auto whole = with_base(file, chip_table().schema, files_);
    if (!whole) return tl::unexpected(whole.error());
    found = whole_chips_.emplace(place, std::move(*whole)).first;
  }
  return &found->second;
}

Reader::Status Reader::read_chip(PciNodeConfig& node, const YamlNode& yaml, const KeyPath& path) {
  node.card = static_cast<int>(system_.cards.size());
  system_.cards.emplace_back();
  const KeyPath inside{"cards." + std::to_string(node.card) + ".", ""};
  ConfigResult<const YamlNode*> found = &yaml;
  bool is_file = yaml.kind == YamlNode::Kind::kMap && yaml.find(kSchemaKey) != nullptr;
  if (yaml.kind != YamlNode::Kind::kMap) {
    found = files_.read_reference(yaml, path.local);
    if (!found) return tl::unexpected(found.error());
    if (auto schema = check_schema(**found, {chip_table().schema}); !schema) return schema;
    is_file = true;
  }
  if (is_file) found = whole_chip(**found);
  if (!found) return tl::unexpected(found.error());
  const auto card = static_cast<std::size_t>(node.card);
  if (is_file && !overrides_.of_one_card()) {
    auto& alike = cards_of_[*found];
    alike.push_back(card);
    if (alike.front() != card) {
      system_.cards[card] = system_.cards[alike.front()];
      return {};
    }
  }
  ChipConfig chip{};
  chip.path = (*found)->place.file;
  if (auto done = read_table(chip_table(), &chip, **found, inside, is_file); !done) return done;
  system_.cards[card] = std::move(chip);
  return {};
}

SourceMap Reader::sources() const {
  SourceMap all = sources_;
  for (const auto& [chip, cards] : cards_of_) {
    const std::string first = "cards." + std::to_string(cards.front()) + ".";
    for (const auto& [path, place] : sources_) {
      if (path.compare(0, first.size(), first) != 0) continue;
      for (const std::size_t card : cards) {
        all["cards." + std::to_string(card) + "." + path.substr(first.size())] = place;
      }
    }
  }
  return all;
}

template <class Item>
Reader::Status Reader::read_list(std::vector<Item>& items, const Table& table,
                                 const std::string& allowed, const YamlNode& yaml,
                                 const KeyPath& path) {
  if (yaml.kind != YamlNode::Kind::kSequence) return refuse(yaml, path, allowed);
  for (std::size_t i = 0; i < yaml.items.size(); ++i) {
    Item item{};
    const KeyPath place = path.child(std::to_string(i));
    sources_[place.full()] = yaml.items[i].place;
    if (auto done = read_table(table, &item, yaml.items[i], place); !done) return done;
    items.push_back(std::move(item));
  }
  return {};
}

Reader::Status Reader::read_nodes(std::vector<PciNodeConfig>& nodes, const YamlNode& yaml,
                                  const KeyPath& path) {
  if (yaml.kind != YamlNode::Kind::kSequence) return refuse(yaml, path, "a list of nodes");
  for (std::size_t i = 0; i < yaml.items.size(); ++i) {
    PciNodeConfig node{};
    const KeyPath place = path.child(std::to_string(i));
    sources_[place.full()] = yaml.items[i].place;
    if (auto done = read_node(node, yaml.items[i], place); !done) return done;
    if (node.kind != PciNodeKind::kCards) {
      nodes.push_back(std::move(node));
    } else if (auto done = read_cards(nodes, std::move(node), yaml.items[i], place); !done) {
      return done;
    }
  }
  return {};
}

// Each has a chip of its own, which overrides may tell from the others.
Reader::Status Reader::read_cards(std::vector<PciNodeConfig>& nodes, PciNodeConfig first,
                                  const YamlNode& yaml, const KeyPath& path) {
  const unsigned count = first.count;
  const auto add = [&nodes](PciNodeConfig node) {
    node.kind = PciNodeKind::kCard;
    node.name += std::to_string(node.card);
    nodes.push_back(std::move(node));
  };
  add(std::move(first));
  for (unsigned i = 1; i < count; ++i) {
    PciNodeConfig node{};
    if (auto done = read_table(node_table(PciNodeKind::kCards), &node, yaml, path); !done) {
      return done;
    }
    add(std::move(node));
  }
  return {};
}

// A word is a part of that form, of all cards.
Reader::Status Reader::read_fabric(const Key& key, void* object, const YamlNode& yaml,
                                   const KeyPath& path) {
  auto& fabric = *static_cast<FabricConfig*>(key.member(object));
  if (yaml.kind == YamlNode::Kind::kMap) return read_table(*key.table, &fabric, yaml, path);
  if (yaml.kind != YamlNode::Kind::kScalar || !contains(key.words, yaml.text)) {
    return refuse(yaml, path, key.allowed());
  }
  FabricPart part;
  const Key form = *fabric_part_table(FabricForm::kNone).find("form");
  const auto value = parse_value(form, yaml, path.local);
  if (!value) return tl::unexpected(value.error());
  form.store(&part, *value);
  fabric = {};
  if (part.form != FabricForm::kNone) fabric.parts.push_back(part);
  return {};
}

Reader::Status Reader::read_parts(std::vector<FabricPart>& parts, const YamlNode& yaml,
                                  const KeyPath& path) {
  if (yaml.kind != YamlNode::Kind::kSequence) return refuse(yaml, path, "a list of parts");
  const Key form = *fabric_part_table(FabricForm::kNone).find("form");
  for (std::size_t i = 0; i < yaml.items.size(); ++i) {
    const auto& item = yaml.items[i];
    const KeyPath place = path.child(std::to_string(i));
    if (item.kind != YamlNode::Kind::kMap) return refuse(item, place, "a section of keys");
    const auto* const entry = item.find(form.name);
    const auto* yaml_form = overrides_.find(place.child(form.name));
    if (yaml_form == nullptr && entry != nullptr) yaml_form = &entry->value;
    if (yaml_form == nullptr) {
      ConfigError error = error_at(item.place, place.local, "missing key 'form'");
      error.allowed = form.allowed();
      return tl::unexpected(error);
    }
    FabricPart part;
    const auto value = parse_value(form, *yaml_form, place.child(form.name).local);
    if (!value) return tl::unexpected(value.error());
    form.store(&part, *value);
    sources_[place.full()] = item.place;
    if (auto done = read_table(fabric_part_table(part.form), &part, item, place); !done) {
      return done;
    }
    parts.push_back(std::move(part));
  }
  return {};
}

Reader::Status Reader::read_node(PciNodeConfig& node, const YamlNode& yaml, const KeyPath& path) {
  // Only the list `root_ports` of a host bridge has root ports, and nothing else.
  const bool root_port = path.local.find(".children.") == std::string::npos;
  node.kind = PciNodeKind::kRootPort;
  if (!root_port) {
    if (yaml.kind != YamlNode::Kind::kMap) return refuse(yaml, path, "a section of keys");
    const Key kind = *node_table(PciNodeKind::kEmptySlot).find("kind");
    const auto* entry = yaml.find(kind.name);
    if (entry == nullptr) {
      ConfigError error = error_at(yaml.place, path.local, "missing key 'kind'");
      error.allowed = kind.allowed();
      return tl::unexpected(error);
    }
    const auto value = parse_value(kind, entry->value, path.child(kind.name).local);
    if (!value) return tl::unexpected(value.error());
    kind.store(&node, *value);
    if (node.kind == PciNodeKind::kRootPort) {
      return refuse(entry->value, path.child(kind.name), "switch, card, empty_slot");
    }
  }
  return read_table(node_table(node.kind), &node, yaml, path);
}

}  // namespace npu::model
