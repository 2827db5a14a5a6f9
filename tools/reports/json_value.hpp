// SPDX-License-Identifier: Apache-2.0
// JSON as it stands in a file: numbers keep their digits, members their order.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "npu/base/result.hpp"

namespace npu::reports {

struct JsonValue {
  enum class Kind { kNull, kFlag, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text;  // of a string; the digits of a number; "true", "false"
  std::vector<std::pair<std::string, JsonValue>> members;  // of an object, in their order
  std::vector<JsonValue> elements;                         // of an array

  // Null if there is none of that name.
  const JsonValue* find(std::string_view name) const;
  // "a string", "3.5", "an object": for messages.
  std::string shown() const;
};

// kInvalidArgument: no JSON, with the place; nested deeper than 64; two members of one name.
Result<JsonValue> parse_json(const std::string& text);

// The values of an object's members as they are written, byte by byte. `text` is what
// parse_json() took for an object.
std::vector<std::pair<std::string, std::string>> written_members(const std::string& text);

}  // namespace npu::reports
