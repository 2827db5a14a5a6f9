// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/dismissal.hpp"

#include "firmware/aicpu/pmu.hpp"

namespace npu::firmware {

// A core that does not leave within its time is left where it is. If the watchdog has run out there
// is none left to give: what hangs has had it.
void Dismissal::dismiss(const Cores& cores) {
  for (const auto& worker : cores.workers()) link_.dismiss(worker);
  port_.barrier();
  const std::uint64_t deadline = run_.in(timed_out() ? 2 * times_.look : times_.leaving);
  for (const auto& worker : cores.workers()) {
    while (!link_.left(worker)) {
      link_.urge(worker);
      if (!port_.poll_again(deadline)) break;
    }
    stop_pmu(run_, worker);
    link_.close(worker);
  }
  port_.barrier();
}

void Dismissal::await_others(bool dealt) {
  const auto absent = static_cast<std::uint32_t>(Presence::kAbsent);
  const auto cancelled = static_cast<std::uint32_t>(Presence::kCancelled);
  const std::uint64_t deadline = run_.in(timed_out() ? 3 * times_.look : 8 * times_.leaving);
  if (!dealt) take_over(0);
  for (unsigned i = 1; i < run_.header().threads; ++i) {
    const std::uint64_t line = run_.thread_line(scratch::kPresence, i);
    const bool came = port_.compare_exchange(line, 4, absent, cancelled) != absent;
    if (!came || !dealt) take_over(i);
    while (came && run_.load32(line) != static_cast<std::uint32_t>(Presence::kGone)) {
      if (!port_.poll_again(deadline)) break;
    }
  }
}

// Sends away the cores of a thread that has never had them.
void Dismissal::take_over(unsigned thread) {
  if (run_.load32(run_.control(scratch::kCoresKnown)) == 0) return;
  Cores cores;
  cores.deal(run_, thread, link_);
  for (const auto& worker : cores.workers()) link_.open(worker);
  dismiss(cores);
}

}  // namespace npu::firmware
