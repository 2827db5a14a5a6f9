// SPDX-License-Identifier: Apache-2.0
// Objects and arrays written member by member, closed at the end of the scope.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/timeline/json_writer.hpp"

namespace npu::timeline {

class JsonObject {
 public:
  explicit JsonObject(JsonWriter& out) : out_(out) { out_.raw("{"); }
  ~JsonObject() { out_.raw("}"); }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  // The value is written by the caller.
  void key(std::string_view name) {
    out_.raw(first_ ? "\"" : ", \"");
    out_.raw(name);
    out_.raw("\": ");
    first_ = false;
  }
  void number(std::string_view name, std::uint64_t value) {
    key(name);
    out_.number(value);
  }
  void number(std::string_view name, Picoseconds value) {
    number(name, static_cast<std::uint64_t>(value.count()));
  }
  void string(std::string_view name, std::string_view value) {
    key(name);
    out_.string(value);
  }
  // One element after another by `write`, with `between` from one to the next.
  template <class Elements, class F>
  void array(std::string_view name, const Elements& elements, std::string_view between, F&& write) {
    key(name);
    write_array(out_, elements, between, write);
  }
  template <class Elements, class F>
  static void write_array(JsonWriter& out, const Elements& elements, std::string_view between,
                          F&& write) {
    out.raw("[");
    std::string_view comma;
    for (const auto& element : elements) {
      out.raw(comma);
      write(element);
      comma = between;
    }
    out.raw("]");
  }

 private:
  JsonWriter& out_;
  bool first_ = true;
};

}  // namespace npu::timeline
