// SPDX-License-Identifier: Apache-2.0
#include "model/config/key_table.hpp"

#include <fmt/format.h>

#include <algorithm>

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
    if (key_name.size() > length &&
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

}  // namespace npu::model
