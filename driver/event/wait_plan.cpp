// SPDX-License-Identifier: Apache-2.0
#include "driver/event/wait_plan.hpp"

#include <algorithm>

namespace npu::driver {

WaitPlan plan_wait(const AdaptiveOptions& options, Picoseconds wake_cost,
                   const LatencyEstimate& estimate, Instant submitted, Instant now) {
  using Kind = WaitPlan::Kind;
  const auto expected_end = submitted + estimate.mean;
  const auto remaining = expected_end - now;
  // Nothing is known of what is left: with a spin as long as a sleep costs, neither choice is ever
  // regretted by more than that.
  const bool overdue = remaining + options.spin_below < Picoseconds();
  if (!estimate.known || overdue) return {Kind::kSpin, false, {}, now + wake_cost};
  const auto spin_end = std::max(now, expected_end) + options.spin_below;
  if (remaining < options.spin_below) return {Kind::kSpin, false, {}, spin_end};
  // Whoever sleeps submits his next command later, so where streams queue for one link the command
  // itself takes less by just that: without the lower limit for sleepers such a stream would wake
  // up over it, wait longer again, and so on.
  const auto sleeping_from =
      estimate.was_long ? options.interrupt_above - wake_cost : options.interrupt_above;
  if (remaining >= sleeping_from) return {Kind::kSleep, true, {}, {}};
  // A quarter of a wake-up in hand: being early costs a little CPU time, being late costs latency.
  const auto nap_cost = wake_cost + wake_cost / 4;
  // A nap begins in time for the early ones, so the others spin on for as long as the stream
  // scatters. A nap at spin_below may burn as much as a spin; towards interrupt_above, where only
  // what an interrupt burns is allowed, the part of it that is allowed falls to nothing.
  constexpr std::int64_t kWhole = 1024;
  const auto part = (options.interrupt_above - remaining) * kWhole /
                    (options.interrupt_above - options.spin_below);
  const auto scatter = estimate.mean - estimate.early;
  if (scatter > (options.spin_below - nap_cost) * part / kWhole) {
    return {Kind::kSleep, false, {}, {}};
  }
  const auto nap_end = submitted + estimate.early - nap_cost;
  return {Kind::kNap, false, nap_end, spin_end};
}

}  // namespace npu::driver
