// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/utilisation.hpp"

#include <algorithm>

namespace npu::timeline {
namespace {

using platform::Load;

__extension__ using Wide = unsigned __int128;

std::uint64_t share(std::uint64_t whole, std::int64_t part, std::int64_t of) {
  return static_cast<std::uint64_t>(Wide{whole} * static_cast<std::uint64_t>(part) /
                                    static_cast<std::uint64_t>(of));
}

constexpr std::uint32_t kAll = 100'000;

}  // namespace

void Utilisation::on_event(const platform::TraceEvent& event) {
  const auto load = platform::row_of(event.activity).load;
  if (load == Load::kNone || load == Load::kRate) return;
  make_room(event.end);
  Series& series = series_of({platform::row_of(event.activity).category, event.track});
  const std::int64_t begin = event.begin.since_power_up().count(),
                     end = event.end.since_power_up().count();
  const auto first = static_cast<std::size_t>(begin / window_);
  const auto last = static_cast<std::size_t>(std::max(begin, end - 1) / window_);
  if (series.size() <= last) series.resize(last + 1);
  const std::uint64_t carried = load == Load::kWireBytes ? event.detail
                                : load == Load::kBytes   ? event.bytes
                                                         : 0;
  std::uint64_t bytes_left = event.bytes, carried_left = carried;
  for (std::size_t i = first; i <= last; ++i) {
    const auto from = std::max(begin, static_cast<std::int64_t>(i) * window_);
    const auto to = std::min(end, static_cast<std::int64_t>(i + 1) * window_);
    const bool is_last = i == last;
    const auto bytes = is_last ? bytes_left : share(event.bytes, to - from, end - begin);
    const auto moved = is_last ? carried_left : share(carried, to - from, end - begin);
    bytes_left -= bytes;
    carried_left -= moved;
    series[i].bytes += bytes;
    series[i].carried += moved;
    series[i].busy += static_cast<std::uint64_t>(to - from);
  }
}

Utilisation::Series& Utilisation::series_of(const Key& key) {
  if (last_ == nullptr || !(key == last_key_)) {
    last_ = &units_[key];
    last_key_ = key;
  }
  return *last_;
}

void Utilisation::make_room(Instant until) {
  while (until.since_power_up().count() / window_ >= static_cast<std::int64_t>(kMostWindows)) {
    window_ *= 2;
    for (auto& [key, series] : units_) {
      for (std::size_t i = 0; i < series.size(); i += 2) {
        Window sum = series[i];
        if (i + 1 < series.size()) {
          sum.busy += series[i + 1].busy;
          sum.carried += series[i + 1].carried;
          sum.bytes += series[i + 1].bytes;
        }
        series[i / 2] = sum;
      }
      series.resize((series.size() + 1) / 2);
    }
  }
}

std::vector<Utilisation::Unit> Utilisation::units(const TrackName& name,
                                                  const Capacity& capacity) const {
  std::vector<Unit> result;
  for (const auto& [key, series] : units_) {
    Unit unit;
    unit.name = name(key.track);
    unit.kind = std::string(platform::to_string(key.kind));
    const std::uint64_t most = capacity(unit.name);
    for (const Window& window : series) {
      const Wide busy = most == 0 ? Wide{window.busy} * kAll / static_cast<std::uint64_t>(window_)
                                  : Wide{window.carried} * kAll * 1'000'000'000'000 / most /
                                        static_cast<std::uint64_t>(window_);
      // Bytes of an event are spread evenly over it; a window may get some of its neighbour's.
      unit.busy_per_hundred_k.push_back(
          static_cast<std::uint32_t>(std::min<Wide>(busy, Wide{kAll})));
      unit.bytes.push_back(window.bytes);
    }
    result.push_back(std::move(unit));
  }
  std::stable_sort(result.begin(), result.end(), [](const Unit& a, const Unit& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.name < b.name;
  });
  return result;
}

}  // namespace npu::timeline
