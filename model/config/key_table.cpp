// SPDX-License-Identifier: Apache-2.0
#include "model/config/key_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/config/fabric_keys.hpp"
#include "model/config/value_text.hpp"

namespace npu::model {

const Unit& unit_of(const std::string& key_name) {
  static const std::vector<Unit> kUnits{
      {"_bytes", "bytes", 1, false},
      {"_kib", "KiB", Bytes{1} << 10, false},
      {"_mib", "MiB", Bytes{1} << 20, false},
      {"_gib", "GiB", Bytes{1} << 30, false},
      {"_ps", "ps", 1, true},
      {"_ns", "ns", 1'000, true},
      {"_us", "us", 1'000'000, true},
      {"_ms", "ms", 1'000'000'000, true},
      {"_mhz", "MHz", 1'000'000, true},
      {"_gb_per_s", "GB/s", 1'000'000'000, true},
      {"_clocks", "clocks", 1, false},
      {"_percent", "%", 1, false},
  };
  static const Unit kNone{"", "", 1, false};
  for (const auto& unit : kUnits) {
    const std::size_t length = unit.suffix.size();
    if (key_name.size() > length && key_name.back() == unit.suffix.back() &&
        key_name.compare(key_name.size() - length, length, unit.suffix) == 0) {
      return unit;
    }
  }
  return kNone;
}

std::string Key::allowed() const {
  switch (type) {
    case KeyType::kFlag:
      return "true, false";
    case KeyType::kName:
      return "a name of letters, digits, '.', '_', '-'";
    case KeyType::kChoice:
      return fmt::format("{}", fmt::join(words, ", "));
    case KeyType::kSection:
      return "a section of keys";
    case KeyType::kFile:
    case KeyType::kChip:
      return "the name of a file, or a section of keys";
    case KeyType::kNodes:
    case KeyType::kBridges:
    case KeyType::kTemplates:
    case KeyType::kFabricParts:
      return "a list";
    case KeyType::kFabric:
      return fmt::format("{}, or a section of keys", fmt::join(words, ", "));
    case KeyType::kTexts:
      return "a list of text; with --set ';' between";
    case KeyType::kNumber:
      break;
  }
  std::string text;
  if (!numbers.empty()) {
    for (const auto value : numbers) {
      text += (text.empty() ? "" : ", ") + number_text(*this, value);
    }
  } else {
    text = number_text(*this, minimum) + ".." + number_text(*this, maximum);
  }
  const Unit& unit = unit_of(name);
  if (!unit.text.empty()) text += " " + unit.text;
  return power_of_two ? text + ", a power of two" : text;
}

std::vector<std::string> keys::texts_of(const std::string& text) {
  std::vector<std::string> texts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(kTextSeparator, begin), text.size());
    if (end > begin) texts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return texts;
}

std::string keys::joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, std::string(1, kTextSeparator)));
}

const Key* Table::find(const std::string& name) const {
  for (const auto& key : keys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

std::vector<std::string> Table::names() const {
  std::vector<std::string> all;
  for (const auto& key : keys) all.push_back(key.name);
  return all;
}

namespace {

// Keys hand out parts of an object by the function that a reader fills them by.
const void* part_of(const Key& key, const void* object) {
  return key.member(const_cast<void*>(object));
}

const Table& table_of(const PciNodeConfig& node) {
  return node_table(node.kind);
}
const Table& table_of(const HostBridgeConfig&) {
  return host_bridge_table();
}
const Table& table_of(const FabricPart& part) {
  return fabric_part_table(part.form);
}
const Table& table_of(const VirtualTemplateConfig&) {
  return virtual_template_table();
}

template <class Item>
std::vector<KeyedPart> parts_in(const Key& key, const void* object) {
  std::vector<KeyedPart> parts;
  for (const auto& item : *static_cast<const std::vector<Item>*>(part_of(key, object))) {
    parts.push_back({&table_of(item), &item});
  }
  return parts;
}

}  // namespace

std::optional<KeyedPart> section_of(const Key& key, const void* object) {
  const bool filled =
      key.type == KeyType::kSection || key.type == KeyType::kFabric || key.type == KeyType::kFile;
  if (!filled) return std::nullopt;
  return KeyedPart{key.table, part_of(key, object)};
}

std::optional<std::vector<KeyedPart>> items_of(const Key& key, const void* object) {
  switch (key.type) {
    case KeyType::kNodes:
      return parts_in<PciNodeConfig>(key, object);
    case KeyType::kBridges:
      return parts_in<HostBridgeConfig>(key, object);
    case KeyType::kFabricParts:
      return parts_in<FabricPart>(key, object);
    case KeyType::kTemplates:
      return parts_in<VirtualTemplateConfig>(key, object);
    default:
      return std::nullopt;
  }
}

}  // namespace npu::model
