// SPDX-License-Identifier: Apache-2.0
// Bytes per second of links, memories and caches, and look-ups of TLBs, over time, from events: the
// bytes of an event are spread evenly over the time from its begin to its end. Windows double when
// there would be too many, so that memory is bounded whatever the run's length.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "npu/platform/trace.hpp"

namespace npu::timeline {

class Rates {
 public:
  static constexpr std::size_t kMostWindows = 2048;

  struct Sample {
    std::uint32_t track;
    platform::Category category;
    std::string what;       // behind the track's name: ".channel3", "" for all of it
    Instant when;           // begin of the window
    std::string_view unit;  // "MB/s", "per ms"
    std::uint64_t value;
  };

  // What is no such thing is passed over.
  void add(const platform::TraceEvent& event);

  // One sample per series and change, in the order of series, then time; a last one of 0.
  template <class F>
  void for_each(F&& tell) const {
    for (const auto& [key, parts] : units_) {
      for (std::size_t part = 0; part < parts.size(); ++part) {
        const Series& series = parts[part];
        for (std::size_t i = 0; i < series.size(); ++i) {
          if (i == 0 || series[i] != series[i - 1]) tell(sample(key, part, i, series[i]));
        }
        if (!series.empty()) tell(sample(key, part, series.size(), 0));
      }
    }
  }

  Picoseconds window() const { return Picoseconds(window_); }

 private:
  struct Key {
    std::uint32_t track = 0;
    platform::Activity activity = platform::Activity::kCount;
    bool operator<(const Key& other) const {
      return track != other.track ? track < other.track : activity < other.activity;
    }
  };
  using Series = std::vector<std::uint64_t>;  // bytes or look-ups by window
  using Parts = std::vector<Series>;          // [0]: all; [1 + n]: channel n; of a TLB [1]: misses

  Parts& parts_of(const Key& key);
  void add_lookup(const platform::TraceEvent& event);
  void spread(Series& series, Instant begin, Instant end, std::uint64_t bytes) const;
  void make_room(Instant until);
  Sample sample(const Key& key, std::size_t part, std::size_t window, std::uint64_t amount) const;

  std::map<Key, Parts> units_;
  std::vector<Parts*> by_index_;   // those of units_, by track and activity; null: none yet
  std::int64_t window_ = 100'000;  // ps
  std::uint64_t room_ = 100'000 * kMostWindows;  // ps; more than any time has
};

}  // namespace npu::timeline
