// SPDX-License-Identifier: Apache-2.0
// The members of a JSON object, each asked for once and by its type. The first thing that is not
// as it must be is kept; after it everything reads as empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "tools/reports/json_value.hpp"
#include "tools/reports/number.hpp"

namespace npu::reports {

// The first error of a document.
class ReadError {
 public:
  // "metrics[3].value: found 'x'; allowed: a number"
  void set(const std::string& where, const JsonValue& found, const std::string& allowed);
  void set(const std::string& text);
  bool is_set() const { return !text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class FieldReader {
 public:
  // `where` begins messages: "metrics[3]"; empty: the document itself.
  FieldReader(const JsonValue& value, std::string where, ReadError& error);

  std::string string(const std::string& name);
  Number number(const std::string& name);
  std::uint64_t unsigned_integer(const std::string& name);
  // Picoseconds, not negative.
  std::int64_t time(const std::string& name);
  std::optional<std::int64_t> optional_time(const std::string& name);
  std::vector<std::string> strings(const std::string& name);
  // Of a member that must be an array or object; empty ones if it is not.
  const std::vector<JsonValue>& array(const std::string& name);
  const std::vector<std::pair<std::string, JsonValue>>& object(const std::string& name);
  const JsonValue& any(const std::string& name);
  std::string path(const std::string& name) const;
  // An error if there are members that nobody asked for.
  void end();

 private:
  // A value that is of no kind if there is none.
  const JsonValue& member(const std::string& name, JsonValue::Kind kind,
                          const std::string& allowed);

  const JsonValue& value_;
  std::string where_;
  ReadError& error_;
  std::vector<std::string> asked_;
};

}  // namespace npu::reports
