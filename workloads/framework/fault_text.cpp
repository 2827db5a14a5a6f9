// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/fault_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"
#include "tools/timeline/time_text.hpp"

namespace npu::workloads {
namespace {

using testkit::Fault;
using testkit::FaultKind;

Error refused(std::string_view text, const std::string& problem) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("fault '{}': {}", shortened(std::string(text)), problem)};
}

std::vector<std::string> class_names() {
  std::vector<std::string> names;
  names.reserve(kFaultClasses.size());
  for (const auto& each : kFaultClasses) names.emplace_back(each.name);
  return names;
}

// A key whose value is a number.
struct NumberKey {
  std::string_view name;
  std::uint64_t (*get)(const Fault&);
  void (*set)(Fault&, std::uint64_t);
  std::uint64_t maximum;
};

template <auto Member>
constexpr NumberKey number_key(std::string_view name) {
  using Value = std::remove_reference_t<decltype(Fault{}.*Member)>;
  return {name, [](const Fault& fault) -> std::uint64_t { return fault.*Member; },
          [](Fault& fault, std::uint64_t value) { fault.*Member = static_cast<Value>(value); },
          std::numeric_limits<Value>::max()};
}

constexpr NumberKey kNumberKeys[] = {
    number_key<&Fault::card>("card"),
    number_key<&Fault::virtual_function>("vf"),
    number_key<&Fault::vector>("vector"),
    number_key<&Fault::peer>("peer"),
    number_key<&Fault::address>("address"),
    number_key<&Fault::bits>("bits"),
    number_key<&Fault::generation>("generation"),
    number_key<&Fault::lanes>("lanes"),
    number_key<&Fault::unit>("engine"),
    number_key<&Fault::unit>("core"),
    number_key<&Fault::unit>("aicpu"),
    number_key<&Fault::unit>("channel"),
    number_key<&Fault::clock_percent>("clock"),
    number_key<&Fault::refreshes>("refreshes"),
    number_key<&Fault::to>("to"),
};

// A key whose value is a word: one of `words`, which stand for 0, 1 and so on.
struct WordKey {
  std::string_view name;
  unsigned (*get)(const Fault&);
  void (*set)(Fault&, unsigned);
  std::vector<std::string_view> words;
};

template <auto Member>
WordKey word_key(std::string_view name, std::vector<std::string_view> words) {
  using Value = std::remove_reference_t<decltype(Fault{}.*Member)>;
  return {name, [](const Fault& fault) { return static_cast<unsigned>(fault.*Member); },
          [](Fault& fault, unsigned value) { fault.*Member = static_cast<Value>(value); },
          std::move(words)};
}

const std::vector<WordKey>& word_keys() {
  static const std::vector<WordKey> kKeys = {
      word_key<&Fault::requester>("requester", {"card", "host"}),
      word_key<&Fault::requester>("receiver", {"card", "host"}),
      word_key<&Fault::status>("status", {"unsupported", "abort"}),
      word_key<&Fault::error>("error", {"ecrc", "malformed", "overflow"}),
      word_key<&Fault::type>("type", {"receiver", "dllp", "rollover", "timeout"}),
  };
  return kKeys;
}

// Of any kind.
constexpr std::string_view kCommonKeys[] = {"at", "card"};

bool takes(const FaultClass& row, std::string_view key) {
  return row.takes(key) ||
         std::find(std::begin(kCommonKeys), std::end(kCommonKeys), key) != std::end(kCommonKeys);
}

// "at=, card=, vf=, for="
std::string keys_of(const FaultClass& row) {
  std::string all = fmt::format("{}=", fmt::join(kCommonKeys, "=, "));
  for (auto rest = row.keys; !rest.empty();) {
    const auto end = std::min(rest.find(' '), rest.size());
    all += fmt::format(", {}=", rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

// As if no key were given.
Fault plain(FaultKind kind) {
  Fault fault{kind};
  if (kind == FaultKind::kDelayedInterrupt) fault.duration = {};
  return fault;
}

// Decimal, or hexadecimal behind 0x.
std::optional<std::uint64_t> number(std::string_view text, std::uint64_t maximum) {
  const auto value = starts_with(text, "0x") ? read_number<std::uint64_t>(text.substr(2), 16)
                                             : read_number<std::uint64_t>(text);
  return value && *value <= maximum ? value : std::nullopt;
}

// What is wrong with it; empty: nothing.
std::string take_time(std::string_view key, std::string_view value, PlannedFault& planned) {
  const auto time = timeline::parse_time(value);
  if (!time) return fmt::format("{} is a time such as 2.5us", key);
  if (key == "for") {
    planned.fault.duration = *time;
  } else {
    planned.when = testkit::at(Instant(*time));
  }
  return {};
}

std::string take_word(const WordKey& key, std::string_view value, Fault& fault) {
  const auto& words = key.words;
  const auto found = std::find(words.begin(), words.end(), value);
  if (found == words.end()) return fmt::format("{} is {}", key.name, fmt::join(words, " or "));
  key.set(fault, static_cast<unsigned>(found - words.begin()));
  return {};
}

std::string take(std::string_view key, std::string_view value, PlannedFault& planned) {
  Fault& fault = planned.fault;
  if (key == "at" || key == "for") return take_time(key, value, planned);
  const auto word = std::find_if(word_keys().begin(), word_keys().end(),
                                 [key](const WordKey& each) { return each.name == key; });
  if (word != word_keys().end()) return take_word(*word, value, fault);
  if (key == "link") {
    if (value.empty()) return "link is the name of a link";
    fault.link = value;
    return {};
  }
  const auto* const row = std::find_if(std::begin(kNumberKeys), std::end(kNumberKeys),
                                       [key](const NumberKey& each) { return each.name == key; });
  const auto given = number(value, row->maximum);
  if (!given) return fmt::format("{} is a number", key);
  row->set(fault, *given);
  return {};
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (;; text.remove_prefix(words.back().size() + 1)) {
    words.push_back(text.substr(0, text.find(',')));
    if (words.back().size() == text.size()) return words;
  }
}

}  // namespace

bool FaultClass::takes(std::string_view key) const {
  for (auto rest = keys; !rest.empty();) {
    const auto end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == key) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

const FaultClass& class_of(FaultKind kind) {
  return *std::find_if(kFaultClasses.begin(), kFaultClasses.end(),
                       [kind](const FaultClass& each) { return each.kind == kind; });
}

Result<PlannedFault> parse_fault(std::string_view text) {
  const auto words = words_of(text);
  const auto* const row =
      std::find_if(kFaultClasses.begin(), kFaultClasses.end(),
                   [&words](const FaultClass& each) { return words.front() == each.name; });
  if (row == kFaultClasses.end()) {
    const auto names = class_names();
    const auto near = nearest_name(std::string(words.front()), names);
    return tl::unexpected(refused(
        text,
        fmt::format("no such kind{}; kinds: {}",
                    near.empty() ? "" : ", did you mean '" + near + "'?", fmt::join(names, ", "))));
  }
  PlannedFault planned{plain(row->kind), testkit::at_once()};
  std::vector<std::string_view> given;
  for (auto word = words.begin() + 1; word != words.end(); ++word) {
    const auto key = word->substr(0, word->find('='));
    if (key.size() == word->size() || !takes(*row, key)) {
      return tl::unexpected(refused(text, fmt::format("{} takes {}", row->name, keys_of(*row))));
    }
    if (std::find(given.begin(), given.end(), key) != given.end()) {
      return tl::unexpected(refused(text, fmt::format("{} is given twice", key)));
    }
    given.push_back(key);
    const auto problem = take(key, word->substr(key.size() + 1), planned);
    if (!problem.empty()) return tl::unexpected(refused(text, problem));
  }
  const auto is_given = [&given](std::string_view key) {
    return std::find(given.begin(), given.end(), key) != given.end();
  };
  if (is_given("peer") && is_given("link")) {
    return tl::unexpected(refused(text, "give peer or link, not both"));
  }
  return planned;
}

Result<std::vector<PlannedFault>> parse_faults(const std::vector<std::string>& texts) {
  std::vector<PlannedFault> planned;
  planned.reserve(texts.size());
  for (const auto& text : texts) {
    auto fault = parse_fault(text);
    if (!fault) return forward_error(fault);
    planned.push_back(*fault);
  }
  return planned;
}

std::string fault_text(const PlannedFault& planned) {
  const Fault& fault = planned.fault;
  const auto& row = class_of(fault.kind);
  const Fault usual = plain(fault.kind);
  std::string text(row.name);
  if (planned.when.kind == testkit::When::Kind::kAt) {
    text += ",at=" + timeline::exact_time_text(planned.when.instant.since_power_up());
  }
  if (row.takes("for") && fault.duration != usual.duration) {
    text += ",for=" + timeline::exact_time_text(fault.duration);
  }
  for (const auto& key : kNumberKeys) {
    if (!takes(row, key.name) || key.get(fault) == key.get(usual)) continue;
    text += fmt::format(key.name == "address" ? ",{}={:#x}" : ",{}={}", key.name, key.get(fault));
  }
  for (const auto& key : word_keys()) {
    const unsigned value = key.get(fault);
    if (!takes(row, key.name) || value == key.get(usual)) continue;
    text += fmt::format(",{}={}", key.name, key.words[value]);
  }
  if (row.takes("link") && !fault.link.empty()) {
    text += ",link=" + fault.link;
  }
  return text;
}

}  // namespace npu::workloads
