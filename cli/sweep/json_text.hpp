// SPDX-License-Identifier: Apache-2.0
// JSON with numbers as the text that stands there: reading 1019.770 as floating point and writing
// it again may give other digits.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "workloads/framework/parameter.hpp"

namespace npu::sweep {

// A string as JSON; bytes that are no UTF-8 are replaced.
std::string json_string(const std::string& text);

// A parameter's value or a key's: 5, "text", [64, 4096].
std::string json_value(const workloads::NamedValue& value);

// A document in which every number is a string of its own digits. Nothing: it is no JSON.
std::optional<nlohmann::json> parse_json(const std::string& text);

}  // namespace npu::sweep
