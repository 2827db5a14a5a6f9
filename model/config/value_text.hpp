// SPDX-License-Identifier: Apache-2.0
// Scalars between their text in a file and the value that is stored.
#pragma once

#include <optional>
#include <string>

#include "model/config/key_table.hpp"
#include "model/config/yaml_document.hpp"

namespace npu::model {

// Exact: decimal, 0x hexadecimal, and fractions that the unit makes whole ("12.5" with _ns is
// 12500). Empty: not a number, or more digits than the unit holds.
std::optional<std::uint64_t> parse_number(const std::string& text, const Unit& unit);

// In the key's unit, as parse_number() reads it.
std::string number_text(const Key& key, std::uint64_t stored);

// Of a scalar key, without type or range errors.
ConfigResult<KeyValue> parse_value(const Key& key, const YamlNode& node, const std::string& path);
std::string value_text(const Key& key, const KeyValue& value);
// The same with numbers in decimals even if the key is shown in hexadecimal.
std::string decimal_text(const Key& key, const KeyValue& value);
// Its values are neither numbers nor flags.
bool is_word(const Key& key);

}  // namespace npu::model
