// SPDX-License-Identifier: Apache-2.0
// What a report says of a run whose events were recorded: utilisation over time, durations, memory
// maps and the critical path, as JSON values by the name of their section (docs/timeline.md).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/timeline/durations.hpp"
#include "tools/timeline/kernel_limits.hpp"
#include "tools/timeline/kernel_use.hpp"
#include "tools/timeline/measured_span.hpp"
#include "tools/timeline/memory_map.hpp"
#include "tools/timeline/path_events.hpp"
#include "tools/timeline/utilisation.hpp"

namespace npu::timeline {

class Profile {
 public:
  using TrackName = std::function<std::string(std::uint32_t track)>;
  struct Memory {
    std::string name;  // "card0.hbm"
    Bytes bytes;       // 0: not known
  };
  // The memory whose blocks are told of on a track.
  using MemoryOf = std::function<Memory(const std::string& track)>;

  // `name` is asked for tracks as their events come.
  explicit Profile(TrackName name) : use_(std::move(name)) {}

  // All must hear every event.
  std::vector<platform::TraceSink*> sinks() {
    return {&utilisation_, &durations_, &memory_map_, &path_, &measured_, &traffic_, &use_};
  }

  struct Sources {
    TrackName track_name;
    Utilisation::Capacity capacity;
    MemoryOf memory_of;
  };
  // Once, of the run [0, end). "utilisation", "durations", "memory_map", "critical_path".
  std::vector<std::pair<std::string, std::string>> sections(Instant end, const Sources& sources);
  // What bounded the kernels on the critical path; after sections().
  const KernelTime& kernels() const { return kernels_; }
  KernelUse kernel_use() const { return use_.use(); }

 private:
  std::string utilisation_json(const Sources& sources) const;
  std::string durations_json() const;
  std::string memory_map_json(Instant end, const Sources& sources) const;
  std::string critical_path_json(Instant end, const Sources& sources);

  Utilisation utilisation_;
  Durations durations_;
  MemoryMap memory_map_;
  PathEvents path_;
  MeasuredSpan measured_;
  KernelTraffic traffic_;
  KernelUseCounter use_;
  KernelTime kernels_;
};

}  // namespace npu::timeline
