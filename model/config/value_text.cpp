// SPDX-License-Identifier: Apache-2.0
#include "model/config/value_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/checked.hpp"
#include "npu/base/nearest_name.hpp"

namespace npu::model {
namespace {

constexpr std::size_t kLongestName = 64;

std::optional<unsigned> digit_of(char c, unsigned base) {
  unsigned value = 0;
  if (c >= '0' && c <= '9') {
    value = static_cast<unsigned>(c - '0');
  } else if (c >= 'a' && c <= 'f') {
    value = static_cast<unsigned>(c - 'a') + 10;
  } else if (c >= 'A' && c <= 'F') {
    value = static_cast<unsigned>(c - 'A') + 10;
  } else {
    return std::nullopt;
  }
  return value < base ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> parse_digits(const std::string& text, unsigned base) {
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    const auto digit = digit_of(c, base);
    if (!digit) return std::nullopt;
    const auto shifted = checked_mul(value, base);
    const auto sum = shifted ? checked_add(*shifted, *digit) : std::nullopt;
    if (!sum) return std::nullopt;
    value = *sum;
  }
  return value;
}

ConfigError wrong(const Key& key, const YamlNode& node, const std::string& path) {
  ConfigError error = error_at(node.place, path, "");
  error.found = describe(node);
  error.allowed = key.allowed();
  return error;
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= kLongestName && text[0] != '.' && text[0] != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

bool allowed(const Key& key, std::uint64_t value) {
  if (!key.numbers.empty()) {
    return std::find(key.numbers.begin(), key.numbers.end(), value) != key.numbers.end();
  }
  if (value < key.minimum || value > key.maximum) return false;
  return !key.power_of_two || is_power_of_two(value);
}

ConfigResult<KeyValue> parse_word(const Key& key, const YamlNode& node, const std::string& path) {
  const std::vector<std::string> flags{"false", "true", "off", "on"};
  const auto& words = key.type == KeyType::kFlag ? flags : key.words;
  const auto found = std::find(words.begin(), words.end(), node.text);
  if (found != words.end()) {
    const auto index = static_cast<std::uint64_t>(found - words.begin());
    return KeyValue{key.type == KeyType::kFlag ? index % 2 : index, {}};
  }
  ConfigError error = wrong(key, node, path);
  error.suggestion = nearest_name(node.text, words);
  return tl::unexpected(error);
}

ConfigResult<KeyValue> parse_texts(const Key& key, const YamlNode& node, const std::string& path) {
  if (node.kind == YamlNode::Kind::kNull) return KeyValue{};
  if (node.kind == YamlNode::Kind::kScalar) return KeyValue{0, node.text};
  if (node.kind != YamlNode::Kind::kSequence) return tl::unexpected(wrong(key, node, path));
  std::vector<std::string> texts;
  for (const auto& item : node.items) {
    const bool is_one = item.kind == YamlNode::Kind::kScalar &&
                        item.text.find(keys::kTextSeparator) == std::string::npos;
    if (!is_one) return tl::unexpected(wrong(key, item, path));
    texts.push_back(item.text);
  }
  return KeyValue{0, keys::joined(texts)};
}

std::string in_units(std::uint64_t stored, const Unit& unit) {
  std::string text = std::to_string(stored / unit.factor);
  std::uint64_t rest = stored % unit.factor;
  if (rest == 0) return text;
  text += '.';
  for (std::uint64_t step = unit.factor / 10; rest != 0; step /= 10) {
    text += static_cast<char>('0' + rest / step);
    rest %= step;
  }
  return text;
}

}  // namespace

std::optional<std::uint64_t> parse_number(const std::string& text, const Unit& unit) {
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    const auto value = parse_digits(text.substr(2), 16);
    return value ? checked_mul(*value, unit.factor) : std::nullopt;
  }
  const std::size_t point = text.find('.');
  const auto whole = parse_digits(text.substr(0, point), 10);
  const auto scaled = whole ? checked_mul(*whole, unit.factor) : std::nullopt;
  if (!scaled || point == std::string::npos) return scaled;
  if (!unit.decimal) return std::nullopt;
  const std::string digits = text.substr(point + 1);
  std::uint64_t step = unit.factor;
  std::uint64_t fraction = 0;
  for (const char c : digits) {
    const auto digit = digit_of(c, 10);
    if (!digit || (step % 10 != 0 && *digit != 0)) return std::nullopt;
    step /= 10;
    fraction += *digit * step;
  }
  return digits.empty() ? std::nullopt : checked_add(*scaled, fraction);
}

std::string number_text(const Key& key, std::uint64_t stored) {
  const Unit& unit = unit_of(key.name);
  if (key.hexadecimal) return fmt::format("{:#x}", stored / unit.factor);
  return in_units(stored, unit);
}

ConfigResult<KeyValue> parse_value(const Key& key, const YamlNode& node, const std::string& path) {
  if (key.type == KeyType::kTexts) return parse_texts(key, node, path);
  if (node.kind != YamlNode::Kind::kScalar) return tl::unexpected(wrong(key, node, path));
  if (key.type == KeyType::kChoice || (key.type == KeyType::kFlag && !node.quoted)) {
    return parse_word(key, node, path);
  }
  if (key.type == KeyType::kName) {
    if (is_name(node.text)) return KeyValue{0, node.text};
    ConfigError error = wrong(key, node, path);
    if (node.text.size() > kLongestName) {
      error.problem = fmt::format("is longer than {} characters", kLongestName);
    }
    return tl::unexpected(error);
  }
  const auto value = node.quoted || key.type != KeyType::kNumber
                         ? std::nullopt
                         : parse_number(node.text, unit_of(key.name));
  if (!value || !allowed(key, *value)) {
    ConfigError error = wrong(key, node, path);
    if (value && value >= key.minimum && value <= key.maximum && key.power_of_two) {
      error.problem = "is no power of two";
    }
    return tl::unexpected(error);
  }
  return KeyValue{*value, {}};
}

std::string value_text(const Key& key, const KeyValue& value) {
  switch (key.type) {
    case KeyType::kFlag:
      return value.number != 0 ? "true" : "false";
    case KeyType::kChoice:
      return key.words[value.number];
    case KeyType::kName:
    case KeyType::kTexts:
      return value.text;
    default:
      return number_text(key, value.number);
  }
}

std::string decimal_text(const Key& key, const KeyValue& value) {
  if (key.type != KeyType::kNumber) return value_text(key, value);
  return in_units(value.number, unit_of(key.name));
}

bool is_word(const Key& key) {
  return key.type != KeyType::kNumber && key.type != KeyType::kFlag;
}

}  // namespace npu::model
