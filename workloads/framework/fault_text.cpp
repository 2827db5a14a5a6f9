// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/fault_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"
#include "tools/timeline/time_text.hpp"

namespace npu::workloads {
namespace {

using testkit::Fault;
using testkit::FaultKind;
using testkit::Requester;

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

std::vector<std::string> keys_of(const FaultClass& row) {
  std::vector<std::string> keys{"at", "card", "vf"};
  if (row.takes_duration) keys.emplace_back("for");
  if (row.takes_vector) keys.emplace_back("vector");
  if (row.takes_peer) keys.emplace_back("peer");
  if (row.takes_requester) keys.emplace_back("requester");
  return keys;
}

std::optional<unsigned> number(std::string_view text) {
  unsigned value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
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

std::string take(std::string_view key, std::string_view value, PlannedFault& planned) {
  Fault& fault = planned.fault;
  if (key == "at" || key == "for") return take_time(key, value, planned);
  if (key == "requester") {
    if (value != "card" && value != "host") return "requester is card or host";
    fault.requester = value == "host" ? Requester::kHost : Requester::kCard;
    return {};
  }
  const auto index = number(value);
  if (!index) return fmt::format("{} is a number", key);
  if (key == "card") fault.card = *index;
  if (key == "vf") fault.virtual_function = *index;
  if (key == "vector") fault.vector = *index;
  if (key == "peer") fault.peer = *index;
  return {};
}

}  // namespace

const FaultClass& class_of(FaultKind kind) {
  return *std::find_if(kFaultClasses.begin(), kFaultClasses.end(),
                       [kind](const FaultClass& each) { return each.kind == kind; });
}

Result<PlannedFault> parse_fault(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view rest = text;; rest.remove_prefix(words.back().size() + 1)) {
    words.push_back(rest.substr(0, rest.find(',')));
    if (words.back().size() == rest.size()) break;
  }
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
  PlannedFault planned{{row->kind}, testkit::at_once()};
  if (row->kind == FaultKind::kDelayedInterrupt) planned.fault.duration = {};
  const auto keys = keys_of(*row);
  std::vector<std::string_view> given;
  for (auto word = words.begin() + 1; word != words.end(); ++word) {
    const auto key = word->substr(0, word->find('='));
    if (key.size() == word->size() || std::find(keys.begin(), keys.end(), key) == keys.end()) {
      return tl::unexpected(
          refused(text, fmt::format("{} takes {}", row->name, fmt::join(keys, ", "))));
    }
    if (std::find(given.begin(), given.end(), key) != given.end()) {
      return tl::unexpected(refused(text, fmt::format("{} is given twice", key)));
    }
    given.push_back(key);
    const auto problem = take(key, word->substr(key.size() + 1), planned);
    if (!problem.empty()) return tl::unexpected(refused(text, problem));
  }
  return planned;
}

std::string fault_text(const PlannedFault& planned) {
  const Fault& fault = planned.fault;
  const auto& row = class_of(fault.kind);
  std::string text = row.name;
  if (planned.when.kind == testkit::When::Kind::kAt) {
    text += ",at=" + timeline::exact_time_text(planned.when.instant.since_power_up());
  }
  if (row.takes_duration && fault.duration != Picoseconds::max()) {
    text += ",for=" + timeline::exact_time_text(fault.duration);
  }
  if (fault.card != 0) text += fmt::format(",card={}", fault.card);
  if (fault.virtual_function != testkit::kNoVirtualFunction) {
    text += fmt::format(",vf={}", fault.virtual_function);
  }
  if (row.takes_vector && fault.vector != testkit::kAnyVector) {
    text += fmt::format(",vector={}", fault.vector);
  }
  if (row.takes_peer) text += fmt::format(",peer={}", fault.peer);
  if (row.takes_requester && fault.requester == Requester::kHost) text += ",requester=host";
  return text;
}

}  // namespace npu::workloads
