// SPDX-License-Identifier: Apache-2.0
#include "npu/testing/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace npu::testkit {
namespace {

constexpr std::array<std::string_view, kAccessKinds> kNames = {"MMIO read",
                                                               "MMIO write",
                                                               "write combining store",
                                                               "configuration read",
                                                               "configuration write",
                                                               "write barrier",
                                                               "read barrier",
                                                               "poll",
                                                               "interrupt"};

bool is_write(AccessKind kind) {
  return kind == AccessKind::kMmioWrite || kind == AccessKind::kCombiningStore ||
         kind == AccessKind::kConfigWrite;
}

// Integers all the way: 1138116636 ps are "1138.116636 us".
std::string microseconds(Picoseconds time) {
  return fmt::format("{}.{:06}", time.count() / 1'000'000, time.count() % 1'000'000);
}

std::string nanoseconds(Picoseconds time) {
  return fmt::format("{}.{:03}", time.count() / 1'000, time.count() % 1'000);
}

std::string place(const Access& access) {
  const std::string bdf = platform::to_string(access.bdf);
  if (access.kind == AccessKind::kConfigRead || access.kind == AccessKind::kConfigWrite) {
    return fmt::format("{} ({} configuration+{:#x})", access.name, bdf, access.offset);
  }
  return fmt::format("{} ({} BAR{}+{:#x})", access.name, bdf, access.bar, access.offset);
}

// "DMA_RING" stands for "DMA_RING[0]", "DMA_RING[1]", ..., and for nothing else but itself.
bool covers(const std::string& wanted, const std::string& name) {
  if (name.compare(0, wanted.size(), wanted) != 0) return false;
  return name.size() == wanted.size() || name[wanted.size()] == '[';
}

}  // namespace

std::string_view to_string(AccessKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames[index] : "?";
}

std::string metric_name(AccessKind kind) {
  constexpr std::array<std::string_view, kAccessKinds> kMetrics = {
      "mmio_reads",    "mmio_writes",   "combining_stores",
      "config_reads",  "config_writes", "write_barriers",
      "read_barriers", "polls",         "interrupts"};
  const auto index = static_cast<std::size_t>(kind);
  return index < kMetrics.size() ? std::string(kMetrics[index]) : "unknown";
}

std::vector<AccessKind> all_access_kinds() {
  std::vector<AccessKind> all;
  for (std::size_t kind = 0; kind < kAccessKinds; ++kind) {
    all.push_back(static_cast<AccessKind>(kind));
  }
  return all;
}

std::string describe(const Access& access) {
  std::string text = fmt::format("{:>14} us  {}", microseconds(access.begin.since_power_up()),
                                 to_string(access.kind));
  switch (access.kind) {
    case AccessKind::kWriteBarrier:
    case AccessKind::kReadBarrier:
      break;
    case AccessKind::kPoll:
      text += fmt::format(", {} times", access.times);
      break;
    case AccessKind::kInterrupt:
      return text + fmt::format(", message data {:#x}", access.value);
    default:
      text += fmt::format(" of {} bytes{} {} {} {:#x}", access.width,
                          is_write(access.kind) ? " to" : " of", place(access),
                          is_write(access.kind) ? "<-" : "=", access.value);
  }
  return text + fmt::format(", {} ns", nanoseconds(access.end - access.begin));
}

void Accesses::add(Access access) {
  ++added_;
  counts_[static_cast<std::size_t>(access.kind)] += access.times;
  if (!access.name.empty()) by_name_[{access.kind, access.name}] += access.times;
  if (list_.size() < kListed) list_.push_back(std::move(access));
}

std::uint64_t Accesses::count(AccessKind kind, const std::string& name) const {
  std::uint64_t found = 0;
  for (auto it = by_name_.lower_bound({kind, name}); it != by_name_.end(); ++it) {
    if (it->first.first != kind || it->first.second.compare(0, name.size(), name) != 0) break;
    if (covers(name, it->first.second)) found += it->second;
  }
  return found;
}

void Accesses::set_times(Instant begin, Instant end) {
  begin_ = begin;
  end_ = end;
}

std::string Accesses::summary() const {
  std::string text;
  for (std::size_t kind = 0; kind < kAccessKinds; ++kind) {
    if (counts_[kind] == 0) continue;
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", counts_[kind], kNames[kind],
                        counts_[kind] == 1 ? "" : "s");
  }
  return text.empty() ? "no accesses" : text;
}

std::string Accesses::text(const std::vector<AccessKind>& kinds, std::size_t most) const {
  std::string lines;
  std::size_t shown = 0, left_out = 0;
  for (const auto& access : list_) {
    if (std::find(kinds.begin(), kinds.end(), access.kind) == kinds.end()) continue;
    if (shown < most) {
      lines += describe(access) + "\n";
      ++shown;
    } else {
      ++left_out;
    }
  }
  if (left_out > 0) lines += fmt::format("... and {} more\n", left_out);
  if (added_ > list_.size()) {
    lines += fmt::format("(of the first {} of {} accesses)\n", list_.size(), added_);
  }
  return lines;
}

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's
void PrintTo(const Accesses& accesses, std::ostream* out) {
  *out << accesses.summary() << " within " << nanoseconds(accesses.elapsed()) << " ns";
}

}  // namespace npu::testkit
