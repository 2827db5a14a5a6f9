// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/json_value.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "npu/base/shortened.hpp"

namespace npu::reports {
namespace {

using Json = nlohmann::json;

// "line 3, column 5" of the byte at `offset`.
std::string place_of(const std::string& text, std::size_t offset) {
  const auto before = std::string_view(text).substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto newline = before.rfind('\n');
  const auto column =
      newline == std::string_view::npos ? before.size() : before.size() - newline - 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// Builds values from what the parser meets. Its own values would lose the digits of numbers.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(const std::string& text, JsonValue& root) : text_(text), root_(root) {}

  bool null() override { return put({}); }
  bool boolean(bool value) override {
    return put({JsonValue::Kind::kFlag, value ? "true" : "false", {}, {}});
  }
  bool number_integer(number_integer_t value) override {
    // Zero is no signed number unless it was written "-0".
    return number(value == 0 ? "-0" : std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override { return number(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& digits) override { return number(digits); }
  bool string(string_t& value) override {
    return put({JsonValue::Kind::kString, std::move(value), {}, {}});
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonValue::Kind::kObject); }
  bool start_array(std::size_t) override { return open(JsonValue::Kind::kArray); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second) {
      error_ = "'" + shortened(name) + "' is there twice";
      return false;
    }
    name_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error_ = position > text_.size() ? "no JSON: it ends in the middle"
                                     : "no JSON: " + place_of(text_, position);
    return false;
  }
  const std::string& error() const { return error_; }

 private:
  static constexpr std::size_t kDeepest = 64;

  bool number(std::string digits) {
    return put({JsonValue::Kind::kNumber, std::move(digits), {}, {}});
  }
  JsonValue& place() {
    if (open_.empty()) return root_;
    JsonValue& parent = *open_.back();
    if (parent.kind == JsonValue::Kind::kArray) return parent.elements.emplace_back();
    return parent.members.emplace_back(std::move(name_), JsonValue()).second;
  }
  bool put(JsonValue value) {
    place() = std::move(value);
    return true;
  }
  bool open(JsonValue::Kind kind) {
    if (open_.size() == kDeepest) {
      error_ = "nested deeper than " + std::to_string(kDeepest);
      return false;
    }
    JsonValue& value = place();
    value.kind = kind;
    open_.push_back(&value);
    names_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }

  const std::string& text_;
  JsonValue& root_;
  std::vector<JsonValue*> open_;  // only the last one grows, so the others stay where they are
  std::vector<std::set<std::string>> names_;  // of their members
  std::string name_;
  std::string error_;
};

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The end of the string whose opening quote is at `begin`.
std::size_t string_end(const std::string& text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at + 1;
}

std::size_t value_end(const std::string& text, std::size_t begin) {
  std::size_t depth = 0;
  for (std::size_t at = begin; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = string_end(text, at);
    } else {
      if (depth == 0 && (c == ',' || c == '}')) return at;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at;
    }
  }
  return text.size();
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  const auto it = std::find_if(members.begin(), members.end(),
                               [&](const auto& member) { return member.first == name; });
  return it == members.end() ? nullptr : &it->second;
}

std::string JsonValue::shown() const {
  constexpr std::size_t kShown = 40;
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kFlag:
    case Kind::kNumber:
      return shortened(text, kShown);
    case Kind::kString:
      return "'" + shortened(text, kShown) + "'";
    case Kind::kArray:
      return "an array";
    case Kind::kObject:
      return "an object";
  }
  return {};
}

Result<JsonValue> parse_json(const std::string& text) {
  JsonValue root;
  Builder builder(text, root);
  if (Json::sax_parse(text, &builder)) return root;
  return fail(ErrorCode::kInvalidArgument,
              builder.error().empty() ? std::string("no JSON") : builder.error());
}

std::vector<std::pair<std::string, std::string>> written_members(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> members;
  std::size_t at = text.find('{') + 1;
  while (true) {
    at = text.find_first_of("\"}", at);
    if (at == std::string::npos || text[at] == '}') return members;
    const std::size_t name_end = string_end(text, at);
    const std::string name = Json::parse(text.substr(at, name_end - at)).get<std::string>();
    std::size_t begin = text.find(':', name_end) + 1;
    while (is_space(text[begin])) ++begin;
    at = value_end(text, begin);
    std::size_t end = at;
    while (is_space(text[end - 1])) --end;
    members.emplace_back(name, text.substr(begin, end - begin));
    if (at < text.size() && text[at] == ',') ++at;
  }
}

}  // namespace npu::reports
