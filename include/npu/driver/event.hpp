// SPDX-License-Identifier: Apache-2.0
// Waiting for commands (requirements.md M5).
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::driver {

enum class WaitPolicy {
  kPolling,    // spin on the event record in host memory
  kInterrupt,  // sleep until the stream's MSI-X vector counts
  kAdaptive,   // chosen per wait from what the stream has shown so far
};

// Expected remaining time -> what an adaptive wait does. requirements.md M5 names 10 us and 50 us;
// the default guard bands keep a command of exactly 10 or 50 us on the right side in spite of
// jitter.
struct AdaptiveOptions {
  Picoseconds spin_below = 11_us;       // spin
  Picoseconds interrupt_above = 45_us;  // sleep at once
  // Between: sleep until shortly before the expected end, then spin; if the stream's latencies
  // scatter too much for that, sleep. The first guess at what going to sleep and being woken costs;
  // learned from then on.
  Picoseconds context_switch = 5_us;
};

struct WaitStatistics {
  std::uint64_t waits = 0;
  std::uint64_t already_done = 0;       // complete at the first look
  std::uint64_t spun = 0;               // ended by polling
  std::uint64_t slept = 0;              // ended by an interrupt
  std::uint64_t missed_interrupts = 0;  // complete at a fallback poll, without an interrupt
  std::uint64_t timeouts = 0;
};

}  // namespace npu::driver
