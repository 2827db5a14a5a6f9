// SPDX-License-Identifier: Apache-2.0
// How tasks wait for commands, entries and signals (requirements.md M5).
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::driver {

enum class WaitPolicy {
  kPolling,    // spin on the completion in host memory
  kInterrupt,  // sleep until the MSI-X interrupt
  kAdaptive,   // spin or sleep, by the latencies that the stream or queue has shown
};

// Thresholds of an adaptive wait for the expected remaining time. Between the two it sleeps until
// shortly before the expected end and then spins; if latencies scatter too much, it sleeps until
// the interrupt. requirements.md M5 names 10 us and 50 us; the defaults leave a margin for jitter.
struct AdaptiveOptions {
  Picoseconds spin_below = 11_us;       // below: spin
  Picoseconds interrupt_above = 45_us;  // above: sleep until the interrupt
  // First estimate of the time to fall asleep and wake up. The driver then learns it.
  Picoseconds context_switch = 5_us;
};

struct WaitStatistics {
  std::uint64_t waits = 0;
  std::uint64_t already_done = 0;       // complete at the start
  std::uint64_t spun = 0;               // ended by polling
  std::uint64_t slept = 0;              // ended by an interrupt
  std::uint64_t missed_interrupts = 0;  // found complete by asking the card
  std::uint64_t timeouts = 0;
};

}  // namespace npu::driver
