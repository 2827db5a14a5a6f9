// SPDX-License-Identifier: Apache-2.0
// What the machine does just now, from its events: how busy each unit is, queues and slots, faults.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "npu/platform/trace.hpp"

namespace npu::cli {

class MachineActivity : public platform::TraceSink {
 public:
  struct Unit {
    std::string name;
    double now = 0;   // share of the time since the last look, 0 to 1
    double mean = 0;  // of all the time
  };
  // Of requests to the card: what has ended, and what was submitted and has not.
  struct Requests {
    std::uint64_t submitted = 0, ended = 0;
    std::uint64_t waiting() const { return submitted > ended ? submitted - ended : 0; }
  };
  using TrackName = std::function<std::string(std::uint32_t track)>;
  // Bytes per second that a link or a memory carries at most; 0: it has no such figure.
  using Capacity = std::function<std::uint64_t(const std::string& track)>;

  void on_event(const platform::TraceEvent& event) override;
  // Until `time`; units that have ever been busy, the busiest first. What is in flight counts when
  // it ends.
  std::vector<Unit> look(Picoseconds time, const TrackName& name, const Capacity& capacity);

  // The busiest first.
  static void sort(std::vector<Unit>& units);

  std::uint64_t faults() const { return faults_; }
  std::uint64_t queues() const { return queues_; }        // that processes have made
  std::uint64_t slots() const { return slots_; }          // with a queue loaded
  const Requests& commands() const { return commands_; }  // of the DMA engines
  const Requests& entries() const { return entries_; }    // of compute queues
  std::uint64_t blocks() const { return blocks_; }        // of kernels, ended

 private:
  struct Track {
    bool is_used = false, by_bytes = false;
    std::uint64_t recent = 0, before = 0;  // ps, since the last look and until then
    std::uint64_t recent_bytes = 0, before_bytes = 0;
  };
  void count(const platform::TraceEvent& event);

  std::vector<Track> tracks_;
  std::int64_t looked_ = 0;
  std::uint64_t faults_ = 0, queues_ = 0, slots_ = 0, blocks_ = 0;
  Requests commands_, entries_;
};

}  // namespace npu::cli
