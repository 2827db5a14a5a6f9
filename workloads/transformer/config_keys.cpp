// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/config_keys.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "npu/base/shortened.hpp"

namespace npu::workloads::transformer {

using reports::JsonValue;

tl::unexpected<Error> ConfigKeys::refuse(const std::string& key, const std::string& why) const {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: {}{}: {}", shortened(file_, kShownPath), within_, key, why));
}

const JsonValue* ConfigKeys::find(const char* name) const {
  const auto* const value = json_.find(name);
  return value == nullptr || value->kind == JsonValue::Kind::kNull ? nullptr : value;
}

std::string ConfigKeys::text(const char* name) const {
  const auto* const value = find(name);
  return value != nullptr && value->kind == JsonValue::Kind::kString ? value->text : "";
}

bool ConfigKeys::flag(const char* name, bool usual) const {
  const auto* const value = find(name);
  return value == nullptr ? usual : value->text == "true";
}

Status ConfigKeys::take(const Whole& key) const {
  const auto* const value = find(key.name);
  if (value == nullptr && key.usual != 0) {
    key.to = key.usual;
    return {};
  }
  if (value == nullptr) return refuse(key.name, "it is missing");
  const auto* const end = value->text.data() + value->text.size();
  const auto read = std::from_chars(value->text.data(), end, key.to);
  const bool whole = value->kind == JsonValue::Kind::kNumber && read.ec == std::errc() &&
                     read.ptr == end && key.to >= 1 && key.to <= key.most;
  if (whole) return {};
  return refuse(key.name, fmt::format("found {}; allowed: 1 to {}", value->shown(), key.most));
}

Result<double> ConfigKeys::real(const char* name, double usual) const {
  const auto* const value = find(name);
  if (value == nullptr) return usual;
  char* end = nullptr;
  const double number = std::strtod(value->text.c_str(), &end);
  if (value->kind == JsonValue::Kind::kNumber && *end == '\0' && number > 0 && number < 1e12) {
    return number;
  }
  return refuse(name, fmt::format("found {}; allowed: a number above 0", value->shown()));
}

}  // namespace npu::workloads::transformer
