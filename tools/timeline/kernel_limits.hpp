// SPDX-License-Identifier: Apache-2.0
// What bounded kernels, from the part of a critical path that leads through them: which pipe, which
// memory, launching. The limits add up to the time they are of.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "npu/platform/trace.hpp"
#include "tools/timeline/path_trail.hpp"

namespace npu::timeline {

struct KernelLimit {
  // "cube", "vector", "mte1", "mte2", "mte3", "fixpipe": what the pipe does takes so long; "hbm",
  // "l2", "mmu": copies wait for it; "way": the fixed time of a copy; "scalar": the scalar unit
  // computes and issues; "scalar_memory": it waits for its own loads; "flags"; "launch".
  std::string name;
  Picoseconds time;
  std::string what;  // for people
};

struct KernelTime {
  Picoseconds total;
  std::vector<KernelLimit> limits;  // longest first
};

// How much kernels moved through the L2 and the HBM while they ran.
class KernelTraffic : public platform::TraceSink {
 public:
  using TrackName = std::function<std::string(std::uint32_t track)>;
  // Bytes per second that a memory could carry; 0: not known.
  using Capacity = std::function<std::uint64_t(const std::string& track)>;

  void on_event(const platform::TraceEvent& event) override;
  // How long their reads of the HBM took on average, in least times of one; 0: there were none.
  unsigned slowness() const;
  // Of what the memory that was asked for most could carry, in percent; -1: not known.
  int percent(platform::Category memory, const TrackName& name, const Capacity& capacity) const;

 private:
  struct Span {
    std::int64_t begin, end;
  };
  std::int64_t time() const;

  std::map<std::pair<platform::Category, std::uint32_t>, Bytes> bytes_;  // by kind and track
  std::vector<Span> blocks_, calls_;
  std::int64_t reads_ = 0, read_time_ = 0, least_read_ = 0;
};

// `in_programs`: only what happened in them; otherwise the rest is "launch".
KernelTime kernel_limits(const std::vector<PathSegment>& segments, bool in_programs,
                         const KernelTraffic& traffic, const KernelTraffic::TrackName& name,
                         const KernelTraffic::Capacity& capacity);

}  // namespace npu::timeline
