// SPDX-License-Identifier: Apache-2.0
// Parameters of a workload: declared once with type, unit, default and range; set from text.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "workloads/framework/reporting.hpp"

namespace npu::workloads {

enum class ParameterType {
  kInteger,      // "1000000"
  kSize,         // "4096", "4KiB", "1MiB", "56GiB"; bytes
  kFlag,         // "on" or "off" (true/false, yes/no, 1/0)
  kChoice,       // one of `choices`
  kIntegerList,  // "1,2,64" or "1..64": from the first, doubling, up to the last
  kSizeList,     // "64,4KiB" or "64..1MiB", as above
  kChoiceList,   // "h2d,d2h"
  kText,         // anything; read by choice()
};

std::string_view to_string(ParameterType type);

struct ParameterSpec {
  std::string name;
  ParameterType type = ParameterType::kInteger;
  std::string unit;           // "B", "us", ""; for people
  std::string default_value;  // in the same notation as the command line's
  std::string doc;            // one line
  std::uint64_t minimum = 0;  // of an integer or size, or of each element of a list
  std::uint64_t maximum = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::string> choices = {};
  // Of a list: an element is of what stands at its place, so elements may be equal. Others are
  // sets, in which no element is twice.
  bool by_place = false;

  // "1..64" or "polling, interrupt, adaptive"; empty when anything goes.
  std::string allowed() const;
};

// One of `choices`, and a list of some ("h2d,d2h").
inline ParameterSpec choice_parameter(std::string name, std::string default_value, std::string doc,
                                      std::vector<std::string> choices,
                                      ParameterType type = ParameterType::kChoice) {
  return {std::move(name), type, "", std::move(default_value),
          std::move(doc),  0,    0,  std::move(choices)};
}
inline ParameterSpec choices_parameter(std::string name, std::string default_value, std::string doc,
                                       std::vector<std::string> choices) {
  return choice_parameter(std::move(name), std::move(default_value), std::move(doc),
                          std::move(choices), ParameterType::kChoiceList);
}

// A list whose elements may be equal.
inline ParameterSpec list_by_place(ParameterSpec list) {
  list.by_place = true;
  return list;
}

// The values of all parameters of one workload. Asking for a name or type that the workload has
// not declared is a programming error and asserts.
class ParameterSet {
 public:
  // All defaults; a default outside its own range is a programming error and asserts.
  explicit ParameterSet(std::vector<ParameterSpec> specs);

  // kNotFound: no such parameter, kInvalidArgument: not of its type, kOutOfRange: outside its
  // range or choices, or twice in a list that is a set. The context names the parameter, what was
  // found and what is allowed.
  Status set(std::string_view name, std::string_view text);
  // "key=value".
  Status assign(std::string_view assignment);

  std::uint64_t integer(std::string_view name) const;
  Bytes size(std::string_view name) const { return integer(name); }
  bool flag(std::string_view name) const { return integer(name) != 0; }
  const std::string& choice(std::string_view name) const;
  const std::vector<std::uint64_t>& integers(std::string_view name) const;
  const std::vector<Bytes>& sizes(std::string_view name) const { return integers(name); }
  const std::vector<std::string>& choices(std::string_view name) const;

  // Calls `act` once, before one of `names` is read for the first time, with that one. It may set
  // them.
  void before_reading(std::vector<std::string> names,
                      std::function<void(std::string_view name)> act) {
    awaited_ = std::move(names);
    act_ = std::move(act);
  }

  const std::vector<ParameterSpec>& specs() const { return specs_; }
  // Name and canonical text of every parameter, in order of declaration.
  std::vector<std::pair<std::string, std::string>> texts() const;
  // The same as values for a report: numbers as numbers, sizes in bytes.
  std::vector<NamedValue> values() const;

 private:
  struct Value {
    std::vector<std::uint64_t> numbers;
    std::vector<std::string> words;
    std::string text;
  };
  Result<Value> parse(const ParameterSpec& spec, std::string_view text) const;
  const Value& value(std::string_view name) const;

  std::vector<ParameterSpec> specs_;
  std::map<std::string, Value, std::less<>> values_;
  mutable std::vector<std::string> awaited_;  // empty: `act_` has been called
  mutable std::function<void(std::string_view)> act_;
};

}  // namespace npu::workloads
