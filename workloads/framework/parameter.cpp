// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/parameter.hpp"

#include <algorithm>
#include <cassert>

#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"
#include "workloads/framework/parameter_text.hpp"
#include "workloads/framework/reporting.hpp"
#include "workloads/framework/suggestion.hpp"

namespace npu::workloads {

namespace {

bool is_size(ParameterType type) {
  return type == ParameterType::kSize || type == ParameterType::kSizeList;
}

bool is_list(ParameterType type) {
  return type == ParameterType::kIntegerList || type == ParameterType::kSizeList ||
         type == ParameterType::kChoiceList;
}

bool is_choice(ParameterType type) {
  return type == ParameterType::kChoice || type == ParameterType::kChoiceList;
}

std::string number_text(ParameterType type, std::uint64_t value) {
  if (type == ParameterType::kFlag) return value != 0 ? "on" : "off";
  return is_size(type) ? size_name(value) : std::to_string(value);
}

std::vector<std::uint64_t> parse_numbers(ParameterType type, std::string_view text) {
  if (type == ParameterType::kFlag) {
    const auto flag = parse_flag(text);
    return flag ? std::vector<std::uint64_t>{*flag} : std::vector<std::uint64_t>{};
  }
  const auto parse_one = is_size(type) ? &parse_size : &parse_integer;
  if (is_list(type)) return parse_range(text, parse_one);
  const auto one = parse_one(text);
  return one ? std::vector<std::uint64_t>{*one} : std::vector<std::uint64_t>{};
}

std::string quoted(std::string_view text) {
  return "'" + shortened(text) + "'";
}

// One line holds a dozen of them.
std::string none_of(const ParameterSpec& spec) {
  constexpr std::size_t kListed = 12;
  if (spec.choices.size() <= kListed) return " is none of " + spec.allowed();
  return " is none of the " + std::to_string(spec.choices.size()) + " that --help lists";
}

}  // namespace

std::string_view to_string(ParameterType type) {
  switch (type) {
    case ParameterType::kInteger:
      return "integer";
    case ParameterType::kSize:
      return "size";
    case ParameterType::kFlag:
      return "on|off";
    case ParameterType::kChoice:
      return "choice";
    case ParameterType::kIntegerList:
      return "list of integers";
    case ParameterType::kSizeList:
      return "list of sizes";
    case ParameterType::kChoiceList:
      return "list of choices";
    case ParameterType::kText:
      return "text";
  }
  return "?";
}

std::string ParameterSpec::allowed() const {
  if (is_choice(type)) {
    std::string text;
    for (const auto& choice : choices) text += (text.empty() ? "" : ", ") + choice;
    return text;
  }
  if (type == ParameterType::kFlag) return "on, off";
  if (type == ParameterType::kText) return {};
  if (minimum == 0 && maximum == std::numeric_limits<std::uint64_t>::max()) return {};
  return number_text(type, minimum) + ".." + number_text(type, maximum);
}

ParameterSet::ParameterSet(std::vector<ParameterSpec> specs) : specs_(std::move(specs)) {
  for (const auto& spec : specs_) {
    auto parsed = parse(spec, spec.default_value);
    assert(parsed && "the default of a parameter is outside its own range");
    if (parsed) values_.emplace(spec.name, std::move(*parsed));
  }
}

Status ParameterSet::set(std::string_view name, std::string_view text) {
  const auto spec = std::find_if(specs_.begin(), specs_.end(),
                                 [&](const ParameterSpec& s) { return s.name == name; });
  if (spec == specs_.end()) {
    std::vector<std::string> names;
    for (const auto& known : specs_) names.push_back(known.name);
    return fail(ErrorCode::kNotFound, "no parameter " + quoted(name) + suggestion(name, names));
  }
  auto parsed = parse(*spec, text);
  if (!parsed) return forward_error(parsed);
  values_[spec->name] = std::move(*parsed);
  return {};
}

Status ParameterSet::assign(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return fail(ErrorCode::kInvalidArgument, quoted(assignment) + " is not of the form key=value");
  }
  return set(assignment.substr(0, equals), assignment.substr(equals + 1));
}

namespace {

// What a value of a type looks like: which units a size may have cannot be guessed.
std::string_view form_of(ParameterType type) {
  switch (type) {
    case ParameterType::kInteger:
      return "an integer";
    case ParameterType::kSize:
      return "a size such as 512B, 4KiB or 1MiB";
    case ParameterType::kIntegerList:
      return "integers such as 1,2,4 or 1..8";
    case ParameterType::kSizeList:
      return "sizes such as 512B,4KiB or 4KiB..1MiB";
    default:
      return "";
  }
}

template <class T>
bool holds(const std::vector<T>& list, const T& element) {
  return std::find(list.begin(), list.end(), element) != list.end();
}

std::string wrong_form(const ParameterSpec& spec, std::string_view found) {
  std::string allowed(form_of(spec.type));
  const std::string range = spec.allowed();
  if (!range.empty()) allowed += (allowed.empty() ? "" : ", ") + range;
  return "found " + quoted(found) + "; allowed: " + allowed;
}

}  // namespace

Result<ParameterSet::Value> ParameterSet::parse(const ParameterSpec& spec,
                                                std::string_view text) const {
  const auto error = [&](ErrorCode code, std::string_view found, const std::string& expected) {
    // Of one that is long, the text before shows the beginning already.
    return fail(code,
                spec.name + "=" + shortened(text) + ": '" + shortened(found, 32) + "'" + expected);
  };
  constexpr const char* kTwice = " is there twice";
  Value value;
  if (spec.type == ParameterType::kText) {
    value.text = text;
    value.words.push_back(value.text);
    return value;
  }
  const auto elements =
      is_list(spec.type) ? split_list(text) : std::vector<std::string>{std::string(text)};
  for (const auto& element : elements) {
    if (is_choice(spec.type)) {
      const auto known = std::find(spec.choices.begin(), spec.choices.end(), element);
      if (known == spec.choices.end()) {
        return error(ErrorCode::kOutOfRange, element,
                     none_of(spec) + (nearest_name(element, spec.choices).empty()
                                          ? ""
                                          : suggestion(element, spec.choices)));
      }
      if (!spec.by_place && holds(value.words, element)) {
        return error(ErrorCode::kOutOfRange, element, kTwice);
      }
      value.words.push_back(element);
      value.text += (value.text.empty() ? "" : ",") + element;
      continue;
    }
    const auto numbers = parse_numbers(spec.type, element);
    if (numbers.empty()) {
      return fail(ErrorCode::kInvalidArgument, spec.name + ": " + wrong_form(spec, element));
    }
    for (const auto number : numbers) {
      if (number < spec.minimum || number > spec.maximum) {
        return error(ErrorCode::kOutOfRange, number_text(spec.type, number),
                     " is outside " + spec.allowed());
      }
      if (!spec.by_place && holds(value.numbers, number)) {
        return error(ErrorCode::kOutOfRange, number_text(spec.type, number), kTwice);
      }
      value.numbers.push_back(number);
      value.text += (value.text.empty() ? "" : ",") + number_text(spec.type, number);
    }
  }
  return value;
}

const ParameterSet::Value& ParameterSet::value(std::string_view name) const {
  if (std::find(awaited_.begin(), awaited_.end(), name) != awaited_.end()) {
    awaited_.clear();
    const auto act = std::move(act_);
    act(name);
  }
  const auto it = values_.find(name);
  assert(it != values_.end() && "the workload has not declared this parameter");
  return it->second;
}

std::uint64_t ParameterSet::integer(std::string_view name) const {
  return value(name).numbers.at(0);
}

const std::string& ParameterSet::choice(std::string_view name) const {
  return value(name).words.at(0);
}

const std::vector<std::uint64_t>& ParameterSet::integers(std::string_view name) const {
  return value(name).numbers;
}

const std::vector<std::string>& ParameterSet::choices(std::string_view name) const {
  return value(name).words;
}

std::vector<std::pair<std::string, std::string>> ParameterSet::texts() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& spec : specs_) all.emplace_back(spec.name, value(spec.name).text);
  return all;
}

std::vector<NamedValue> ParameterSet::values() const {
  std::vector<NamedValue> all;
  for (const auto& spec : specs_) {
    const Value& found = value(spec.name);
    NamedValue named{spec.name, found.words, !found.words.empty(), is_list(spec.type)};
    for (const auto number : found.numbers) {
      const bool flag = spec.type == ParameterType::kFlag;
      named.elements.push_back(flag ? (number != 0 ? "true" : "false") : std::to_string(number));
    }
    all.push_back(std::move(named));
  }
  return all;
}

}  // namespace npu::workloads
