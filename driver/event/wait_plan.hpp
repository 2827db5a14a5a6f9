// SPDX-License-Identifier: Apache-2.0
// How an adaptive wait goes about it: a pure function of what is known when it begins.
#pragma once

#include "driver/event/latency_predictor.hpp"
#include "npu/driver/event.hpp"

namespace npu::driver {

// Sleep until `nap_end` if there is a nap, spin until `spin_end` if it spins, then sleep until
// the interrupt. The completion ends each of these.
struct WaitPlan {
  enum class Kind {
    kSpin,  // then sleep
    kNap,   // then spin, then sleep
    kSleep,
  };

  Kind kind = Kind::kSleep;
  bool is_long = false;  // kSleep because so much time is left
  Instant nap_end;       // kNap: when to be woken; running again takes a wake cost more
  Instant spin_end;      // kSpin, kNap: absolute
};

// `wake_cost`: from going to sleep to running again, without the sleep. `submitted`, `now`:
// absolute.
WaitPlan plan_wait(const AdaptiveOptions& options, Picoseconds wake_cost,
                   const LatencyEstimate& estimate, Instant submitted, Instant now);

}  // namespace npu::driver
