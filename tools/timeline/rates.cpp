// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/rates.hpp"

#include <algorithm>

namespace npu::timeline {
namespace {

using platform::Activity;

// All else would be told twice.
bool has_rate(Activity activity) {
  const auto load = platform::row_of(activity).load;
  return load != platform::Load::kNone && load != platform::Load::kTime;
}

void halve(std::vector<std::uint64_t>& series) {
  for (std::size_t i = 0; i < series.size(); i += 2) {
    series[i / 2] = series[i] + (i + 1 < series.size() ? series[i + 1] : 0);
  }
  series.resize((series.size() + 1) / 2);
}

bool has_channels(Activity activity) {
  return activity == Activity::kHbmRead || activity == Activity::kHbmWrite;
}

}  // namespace

// Reads and writes of a channel share its data bus.
void Rates::add(const platform::TraceEvent& event) {
  if (event.activity == Activity::kTranslation) return add_lookup(event);
  if (event.bytes == 0 || !has_rate(event.activity)) return;
  make_room(event.end);
  if (!has_channels(event.activity)) {
    Parts& parts = parts_of({event.track, event.activity});
    return spread(parts.front(), event.begin, event.end, event.bytes);
  }
  Parts& parts = parts_of({event.track, Activity::kHbmRead});
  std::uint64_t left = event.bytes;
  auto touched = static_cast<unsigned>(__builtin_popcountll(event.detail));
  for (std::uint64_t mask = event.detail; mask != 0; mask &= mask - 1) {
    const auto channel = static_cast<std::size_t>(__builtin_ctzll(mask));
    if (parts.size() <= channel + 1) parts.resize(channel + 2);
    const std::uint64_t share = left / touched--;
    left -= share;
    spread(parts[channel + 1], event.begin, event.end, share);
  }
  spread(parts.front(), event.begin, event.end, event.bytes);
}

void Rates::add_lookup(const platform::TraceEvent& event) {
  constexpr unsigned kHitShift = 63;  // of its detail
  make_room(event.end);
  Parts& parts = parts_of({event.track, event.activity});
  parts.resize(2);
  const bool hit = (event.detail >> kHitShift & 1) != 0;
  spread(parts[0], event.begin, event.end, 1);
  if (!hit) spread(parts[1], event.begin, event.end, 1);
}

Rates::Parts& Rates::parts_of(const Key& key) {
  const std::size_t index =
      key.track * platform::kActivities + static_cast<std::size_t>(key.activity);
  if (index >= by_index_.size()) by_index_.resize((key.track + 1) * platform::kActivities);
  auto*& parts = by_index_[index];
  if (parts == nullptr) parts = &units_.try_emplace(key, 1).first->second;
  return *parts;
}

// Twice as long windows until `until` lies in one of the first kMostWindows.
void Rates::make_room(Instant until) {
  while (static_cast<std::uint64_t>(until.since_power_up().count()) >= room_) {
    window_ *= 2;
    room_ *= 2;
    for (auto& [key, parts] : units_) {
      for (auto& series : parts) halve(series);
    }
  }
}

void Rates::spread(Series& series, Instant begin, Instant end, std::uint64_t bytes) const {
  const auto first = begin.since_power_up().count() / window_;
  const auto last_moment = std::max(begin, end - Picoseconds(1)).since_power_up().count();
  const auto last = last_moment - first * window_ < window_
                        ? first
                        : last_moment / window_;  // mostly there is one
  if (series.size() <= static_cast<std::size_t>(last)) {
    series.resize(static_cast<std::size_t>(last) + 1);
  }
  const std::int64_t time = (end - begin).count();
  std::uint64_t left = bytes;
  for (auto i = first; i < last; ++i) {
    const std::int64_t from = std::max(begin.since_power_up().count(), i * window_);
    const std::int64_t to = (i + 1) * window_;
    __extension__ using Wide = unsigned __int128;
    const auto share = static_cast<std::uint64_t>(
        Wide{bytes} * static_cast<std::uint64_t>(to - from) / static_cast<std::uint64_t>(time));
    series[static_cast<std::size_t>(i)] += share;
    left -= share;
  }
  series[static_cast<std::size_t>(last)] += left;
}

Rates::Sample Rates::sample(const Key& key, std::size_t part, std::size_t window,
                            std::uint64_t amount) const {
  const auto& row = platform::row_of(key.activity);
  const bool lookups = key.activity == Activity::kTranslation;
  // Bytes per picosecond are 10^6 MB/s, look-ups 10^9 per ms.
  const std::uint64_t scale = lookups ? 1'000'000'000 : 1'000'000;
  Sample result{key.track,
                row.category,
                {},
                Instant(Picoseconds(static_cast<std::int64_t>(window) * window_)),
                lookups ? "per ms" : "MB/s",
                amount * scale / static_cast<std::uint64_t>(window_)};
  if (lookups) {
    result.what = part == 0 ? ".lookups" : ".misses";
    return result;
  }
  if (part != 0) {
    result.what = ".channel" + std::to_string(part - 1);
  } else if (row.category == platform::Category::kL2) {
    result.what = "." + std::string(row.name.substr(3));
  }
  return result;
}

}  // namespace npu::timeline
