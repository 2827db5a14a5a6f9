// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep/json_text.hpp"

#include <vector>

namespace npu::sweep {
namespace {

using nlohmann::json;

// Builds the document; the names are those that nlohmann calls.
class Builder : public nlohmann::json_sax<json> {
 public:
  json root;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return add(text); }
  bool string(string_t& text) override { return add(text); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& text) override {
    keys_.back() = text;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  json* place(json value) {
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    json& parent = *open_.back();
    if (parent.is_object()) return &(parent[keys_.back()] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }
  bool add(json value) {
    place(std::move(value));
    return true;
  }
  // What is open does not move: only the innermost grows.
  bool open(json value) {
    open_.push_back(place(std::move(value)));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  std::vector<json*> open_;
  std::vector<std::string> keys_;
};

}  // namespace

std::string json_string(const std::string& text) {
  return json(text).dump(-1, ' ', true, json::error_handler_t::replace);
}

std::string json_value(const workloads::NamedValue& value) {
  std::string text;
  for (const auto& element : value.elements) {
    text += (text.empty() ? "" : ", ") + (value.is_text ? json_string(element) : element);
  }
  return value.is_list ? "[" + text + "]" : text;
}

std::optional<json> parse_json(const std::string& text) {
  Builder builder;
  if (!json::sax_parse(text, &builder)) return std::nullopt;
  return std::move(builder.root);
}

}  // namespace npu::sweep
