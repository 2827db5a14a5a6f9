// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/field_reader.hpp"

#include <algorithm>

#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"

namespace npu::reports {
namespace {

const JsonValue kNoValue{};

template <class T>
bool parse(const std::string& digits, T& value) {
  const auto read = read_number<T>(digits);
  value = read.value_or(value);
  return read && std::to_string(value) == digits;
}

constexpr const char* kTime = "picoseconds, 0..9223372036854775807";

}  // namespace

void ReadError::set(const std::string& where, const JsonValue& found, const std::string& allowed) {
  set(where + ": found " + found.shown() + "; allowed: " + allowed);
}

void ReadError::set(const std::string& text) {
  if (text_.empty()) text_ = text;
}

FieldReader::FieldReader(const JsonValue& value, std::string where, ReadError& error)
    : value_(value), where_(std::move(where)), error_(error) {
  if (value.kind != JsonValue::Kind::kObject) {
    error_.set(where_.empty() ? "the file" : where_, value, "an object");
  }
}

std::string FieldReader::path(const std::string& name) const {
  return where_.empty() ? name : where_ + "." + name;
}

const JsonValue& FieldReader::any(const std::string& name) {
  asked_.push_back(name);
  const JsonValue* found = value_.find(name);
  if (found != nullptr) return *found;
  error_.set(path(name) + ": missing");
  return kNoValue;
}

const JsonValue& FieldReader::member(const std::string& name, JsonValue::Kind kind,
                                     const std::string& allowed) {
  const JsonValue& value = any(name);
  if (value.kind == kind) return value;
  error_.set(path(name), value, allowed);
  return kNoValue;
}

std::string FieldReader::string(const std::string& name) {
  return member(name, JsonValue::Kind::kString, "a string").text;
}

Number FieldReader::number(const std::string& name) {
  const char* const allowed = "a decimal number of at most 9 decimals and 18 digits";
  const JsonValue& value = member(name, JsonValue::Kind::kNumber, allowed);
  const auto number = Number::parse(value.text);
  if (!number) error_.set(path(name), value, allowed);
  return number.value_or(Number());
}

std::uint64_t FieldReader::unsigned_integer(const std::string& name) {
  const std::string allowed = "0.." + std::to_string(UINT64_MAX);
  const JsonValue& value = member(name, JsonValue::Kind::kNumber, allowed);
  std::uint64_t number = 0;
  if (!parse(value.text, number)) error_.set(path(name), value, allowed);
  return number;
}

std::int64_t FieldReader::time(const std::string& name) {
  const JsonValue& value = member(name, JsonValue::Kind::kNumber, kTime);
  std::int64_t number = 0;
  if (!parse(value.text, number) || number < 0) error_.set(path(name), value, kTime);
  return std::max<std::int64_t>(number, 0);
}

std::optional<std::int64_t> FieldReader::optional_time(const std::string& name) {
  const JsonValue* found = value_.find(name);
  if (found == nullptr || found->kind != JsonValue::Kind::kNull) return time(name);
  asked_.push_back(name);
  return std::nullopt;
}

std::vector<std::string> FieldReader::strings(const std::string& name) {
  std::vector<std::string> all;
  for (const auto& each : array(name)) {
    if (each.kind != JsonValue::Kind::kString) {
      error_.set(path(name) + "[" + std::to_string(all.size()) + "]", each, "a string");
    }
    all.push_back(each.text);
  }
  return all;
}

const std::vector<JsonValue>& FieldReader::array(const std::string& name) {
  return member(name, JsonValue::Kind::kArray, "an array").elements;
}

const std::vector<std::pair<std::string, JsonValue>>& FieldReader::object(const std::string& name) {
  return member(name, JsonValue::Kind::kObject, "an object").members;
}

void FieldReader::end() {
  for (const auto& [name, value] : value_.members) {
    if (std::find(asked_.begin(), asked_.end(), name) == asked_.end()) {
      error_.set(path(shortened(name)) + ": no report has that");
    }
  }
}

}  // namespace npu::reports
