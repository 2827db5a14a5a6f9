// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/watchdog.hpp"

#include <algorithm>

namespace npu::firmware {

void Watchdog::begin() {
  quiet_since_ = port_.system_counter();
  deadline_ = quiet_since_ + times_.look;
}

void Watchdog::look_around() {
  const std::uint64_t now = port_.system_counter();
  const std::uint64_t seen = progress_.moves();
  if (seen != seen_moves_) {
    seen_moves_ = seen;
    quiet_since_ = now;
    deadline_ = now + times_.look;
    return;
  }
  check_exceptions();
  if (port_.thread() == 0 && deadline_ >= quiet_since_ + times_.quiet) stop_.time_out();
  // From when it was due, or the delays of all looks would add up.
  deadline_ = std::max(deadline_, now - std::min(times_.look, now)) + times_.look;
}

void Watchdog::check_exceptions() {
  for (const auto& worker : cores_.workers()) {
    if (!worker.busy() || worker.reserved) continue;
    const std::uint32_t code = link_.exception(worker);
    if (code == 0) continue;
    const Assignment& what = worker.oldest();
    return stop_.fail_in(what, abi::RunStatus::kCoreException, worker, code, link_.cond(worker));
  }
}

}  // namespace npu::firmware
