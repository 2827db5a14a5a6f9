// SPDX-License-Identifier: Apache-2.0
// A task of the host, as those who run it know it.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>

#include "model/core/simulation.hpp"
#include "npu/platform/time.hpp"

namespace npu::model {

// What a task's poll loop has done in the round that it is in.
struct PollRound {
  const void* watched = nullptr;
  SimTime deadline = 0;
  SimTime began = 0;           // when it looked
  SimTime own = 0;             // time of its instructions
  std::uint64_t executed = 0;  // by all tasks when it began
};

struct HostTask {
  std::string name;
  unsigned core = 0;  // where it runs or ran last
  unsigned home = 0;  // where it runs if nobody else does
  bool has_core = false;
  SimTime slice_end = 0;                       // of its time on the core, if others wait
  const sc_core::sc_event* watched = nullptr;  // while its poll loop waits for a change
  sc_core::sc_event granted;                   // a core is its
  std::uint32_t track = 0;
  std::uint64_t cause = 0;
  SimTime pending = 0;     // charged, not yet waited for
  std::uint64_t rest = 0;  // of its instructions' time, less than a picosecond of it
  SimTime stolen = 0;      // by interrupt handlers on its core, not yet waited for
  SimTime stores = 0;  // of what is charged: stores on their way that have hidden no instruction
  PollRound round;
  SimTime busy_since = 0;  // of the current stretch without blocking
  platform::CpuUsage usage;
  std::string waiting_for;  // while blocked; for the deadlock report
  bool done = false;
  sc_core::sc_event finished;
};

}  // namespace npu::model
