// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/vcd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace npu::timeline {
namespace {

// Identifiers are made of the printable characters "!" to "~".
std::string identifier(std::uint32_t number) {
  constexpr std::uint32_t kFirst = '!', kCount = '~' - '!' + 1;
  std::string text;
  do {
    text += static_cast<char>(kFirst + number % kCount);
    number /= kCount;
  } while (number-- != 0);
  return text;
}

std::string binary(std::uint32_t value) {
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + (value & 1)));
    value >>= 1;
  } while (value != 0);
  return text;
}

// A name's parts are scopes; wires hang in the last.
std::string scope_name(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

Status append(ByteSink& out, fmt::memory_buffer& text) {
  auto ok = out.append({reinterpret_cast<const std::byte*>(text.data()), text.size()});
  text.clear();
  return ok;
}

enum Wire : std::uint32_t { kBusy, kInFlight, kActivity, kWires };

}  // namespace

Vcd::Vcd(ByteSink& out, Filter filter, TrackName track_name)
    : out_(out), filter_(std::move(filter)), track_name_(std::move(track_name)) {}

std::uint32_t Vcd::signal_of(std::uint32_t track) {
  if (track >= signal_by_track_.size()) signal_by_track_.resize(track + 1);
  auto& known = signal_by_track_[track];
  if (known == 0) {
    signals_.push_back({track});
    known = static_cast<std::uint32_t>(signals_.size());
  }
  return known - 1;
}

void Vcd::on_event(const platform::TraceEvent& event) {
  if (event.activity == platform::Activity::kMeasurement) return;  // no unit's
  if (!filter_.covers(event) || !filter_.covers(track_name_(event.track), event.activity)) return;
  if (spans_.size() == kMost) {
    ++left_out_;
    return;
  }
  spans_.push_back({event.begin.since_power_up().count(), event.end.since_power_up().count(),
                    signal_of(event.track), event.activity});
}

Status Vcd::write_header(const std::string& remark) {
  fmt::memory_buffer text;
  auto to = std::back_inserter(text);
  fmt::format_to(to, "$comment activities:");
  for (std::size_t i = 0; i < platform::kActivities; ++i) {
    fmt::format_to(to, " {}={}", i + 1, platform::kActivityTable[i].name);
  }
  fmt::format_to(to, "; 0: none $end\n$timescale 1ps $end\n");
  if (!remark.empty()) fmt::format_to(to, "$comment {} $end\n", remark);
  if (left_out_ != 0) {
    fmt::format_to(to, "$comment {} later events found no room; choose units or a window $end\n",
                   left_out_);
  }
  // Wave viewers want units of one name side by side.
  std::map<std::string, std::uint32_t> by_name;
  for (std::uint32_t i = 0; i < signals_.size(); ++i) {
    by_name[scope_name(track_name_(signals_[i].track))] = i;
  }
  for (const auto& [name, signal] : by_name) {
    std::size_t depth = 0;
    for (std::size_t begin = 0; begin <= name.size(); ++depth) {
      const auto end = std::min(name.find('.', begin), name.size());
      fmt::format_to(to, "$scope module {} $end\n", name.substr(begin, end - begin));
      begin = end + 1;
    }
    fmt::format_to(to, "$var wire 1 {} busy $end\n", identifier(signal * kWires + kBusy));
    fmt::format_to(to, "$var wire 32 {} count $end\n", identifier(signal * kWires + kInFlight));
    fmt::format_to(to, "$var wire 16 {} activity $end\n", identifier(signal * kWires + kActivity));
    while (depth-- > 0) fmt::format_to(to, "$upscope $end\n");
  }
  fmt::format_to(to, "$enddefinitions $end\n#0\n");
  for (std::uint32_t i = 0; i < signals_.size(); ++i) {
    fmt::format_to(to, "0{}\nb0 {}\nb0 {}\n", identifier(i * kWires + kBusy),
                   identifier(i * kWires + kInFlight), identifier(i * kWires + kActivity));
  }
  return append(out_, text);
}

Status Vcd::write_changes() {
  struct Change {
    std::int64_t when;
    std::uint32_t span;
    bool begins;
  };
  std::vector<Change> changes;
  changes.reserve(2 * spans_.size());
  for (std::uint32_t i = 0; i < spans_.size(); ++i) {
    if (spans_[i].begin == spans_[i].end) continue;  // no wire changes for no time
    changes.push_back({spans_[i].begin, i, true});
    changes.push_back({spans_[i].end, i, false});
  }
  // What ends at a time does so before something else begins.
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.when != b.when ? a.when < b.when : a.begins < b.begins;
  });
  fmt::memory_buffer text;
  auto to = std::back_inserter(text);
  std::int64_t now = 0;
  for (const Change& change : changes) {
    const Span& span = spans_[change.span];
    Signal& signal = signals_[span.signal];
    if (change.when != now) fmt::format_to(to, "#{}\n", now = change.when);
    const std::uint32_t before = signal.in_flight;
    signal.in_flight += change.begins ? 1 : -1U;
    const std::uint32_t first = span.signal * kWires;
    if ((before == 0) != (signal.in_flight == 0)) {
      fmt::format_to(to, "{}{}\n", signal.in_flight == 0 ? 0 : 1, identifier(first + kBusy));
    }
    fmt::format_to(to, "b{} {}\n", binary(signal.in_flight), identifier(first + kInFlight));
    const auto number = static_cast<std::uint32_t>(span.activity) + 1;
    if (change.begins || signal.in_flight == 0) {
      fmt::format_to(to, "b{} {}\n", binary(change.begins ? number : 0),
                     identifier(first + kActivity));
    }
    constexpr std::size_t kFull = 60'000;
    if (text.size() < kFull) continue;
    if (auto ok = append(out_, text); !ok) return ok;
  }
  return append(out_, text);
}

Status Vcd::finish(const std::string& remark) {
  if (auto ok = write_header(remark); !ok) return ok;
  if (auto ok = write_changes(); !ok) return ok;
  return out_.finish();
}

}  // namespace npu::timeline
