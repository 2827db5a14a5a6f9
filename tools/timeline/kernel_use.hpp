// SPDX-License-Identifier: Apache-2.0
// What kernels used of the machine while they ran, from their events: pipes, bytes by level, the
// L2's hits. docs/reports.md says how each is counted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "npu/platform/core_events.hpp"
#include "npu/platform/trace.hpp"
#include "tools/timeline/busy_time.hpp"

namespace npu::timeline {

// One pipe of all cores; the scalar unit is busy when it waits for nothing.
struct PipeUse {
  Picoseconds busy;    // of the cores that used it, added up
  unsigned cores = 0;  // that used it
};

// Copies of one kind from or to global memory.
struct CopyUse {
  Bytes bytes = 0;
  unsigned cores = 0;  // that made some
};

struct MemoryUse {
  Bytes read = 0, written = 0;
  std::uint64_t hits = 0, misses = 0;  // lines, of the L2
};

struct KernelUse {
  Picoseconds time;                                         // in which any kernel ran
  unsigned cores = 0;                                       // that ran one
  std::uint64_t programs = 0;                               // blocks, or calls of an executor
  std::array<PipeUse, platform::kPipes> pipes{};            // by platform::Pipe
  std::array<CopyUse, platform::kPipeOperations> copies{};  // by platform::PipeOperation
  MemoryUse l2, hbm;  // what the kernels' requests moved there
  std::string card;   // "card0": whose cores they were
};

class KernelUseCounter : public platform::TraceSink {
 public:
  using TrackName = std::function<std::string(std::uint32_t track)>;

  // `name` is asked for a track when its first event comes.
  explicit KernelUseCounter(TrackName name) : name_(std::move(name)) {}

  void on_event(const platform::TraceEvent& event) override;
  KernelUse use() const;
  // What the requests of one launch have moved, in the L2 and in the HBM.
  std::pair<MemoryUse, MemoryUse> moved_for(std::uint64_t cause) const {
    const auto found = launches_.find(cause);
    if (found == launches_.end()) return {};
    return {found->second.l2, found->second.hbm};
  }

 private:
  struct Core {
    std::string card;
    std::vector<TimeSpan> waits;  // of the scalar unit, since the last program
    struct Time {
      Picoseconds running, waiting;
      std::uint64_t programs = 0;
    } of_blocks, of_calls;
  };
  struct Place {
    Core* core = nullptr;  // none: no track of an AI Core
    BusyTime busy;
  };
  Place& place_of(std::uint32_t track);
  void instruction(const platform::TraceEvent& event);
  void memory(const platform::TraceEvent& event);
  void program(const platform::TraceEvent& event);

  TrackName name_;
  std::unordered_map<std::uint32_t, Place> places_;
  std::map<std::string, Core> cores_;  // by name
  std::array<Bytes, platform::kPipeOperations> copied_{};
  // Tracks that did so.
  std::array<std::set<std::uint32_t>, platform::kPipeOperations> copiers_;
  std::array<std::set<std::uint32_t>, platform::kPipes> users_;
  std::vector<TimeSpan> blocks_, calls_;
  struct OfLaunch {
    MemoryUse l2, hbm;
    bool on_cores = false;  // an AI Core ran a block of it
  };
  std::map<std::uint64_t, OfLaunch> launches_;  // by cause
};

}  // namespace npu::timeline
