// SPDX-License-Identifier: Apache-2.0
// How busy every unit was over time, from events. A unit that does one thing at a time (a CPU, a
// pipe, an engine) is busy while an event of it lasts; a link or a memory is busy by the bytes it
// carried of those it could have. Windows double when there would be too many.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "npu/platform/trace.hpp"

namespace npu::timeline {

class Utilisation : public platform::TraceSink {
 public:
  static constexpr std::size_t kMostWindows = 256;

  // Bytes per second that a link or a memory could carry; 0: not known, and its time counts.
  using Capacity = std::function<std::uint64_t(const std::string& track)>;
  using TrackName = std::function<std::string(std::uint32_t track)>;

  void on_event(const platform::TraceEvent& event) override;

  struct Unit {
    std::string name, kind;                         // "card0.dma.engine0", "dma"
    std::vector<std::uint32_t> busy_per_hundred_k;  // by window: 100,000 is all of it
    std::vector<std::uint64_t> bytes;               // by window
  };
  // In the order of kinds, then names.
  std::vector<Unit> units(const TrackName& name, const Capacity& capacity) const;
  Picoseconds window() const { return Picoseconds(window_); }

 private:
  struct Key {
    platform::Category kind = platform::Category::kCount;
    std::uint32_t track = 0;
    bool operator==(const Key& other) const { return kind == other.kind && track == other.track; }
    bool operator<(const Key& other) const {
      return kind != other.kind ? kind < other.kind : track < other.track;
    }
  };
  struct Window {
    std::uint64_t busy = 0;     // ps
    std::uint64_t carried = 0;  // bytes on the wire, or moved
    std::uint64_t bytes = 0;
  };
  using Series = std::vector<Window>;

  Series& series_of(const Key& key);
  void make_room(Instant until);

  std::map<Key, Series> units_;
  std::int64_t window_ = 100'000;  // ps
  Key last_key_;
  Series* last_ = nullptr;
};

}  // namespace npu::timeline
