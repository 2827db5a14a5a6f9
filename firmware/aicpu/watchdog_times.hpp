// SPDX-License-Identifier: Apache-2.0
// What the watchdog's time of a run (RunHeader::watchdog_ns) is spent on, in ticks of the system
// counter.
#pragma once

#include <algorithm>

#include "firmware/aicpu/run_view.hpp"

namespace npu::firmware {

struct WatchdogTimes {
  explicit WatchdogTimes(const RunView& run)
      : look(std::max<std::uint64_t>(run.watchdog_ticks() / kLooks, 1)),
        quiet(kQuietLooks * look),
        leaving(kLooks / 4 * look) {}

  // There are 26 to 27 looks until a run that stands still is given up, two for its cores to leave,
  // and the rest for the diagnosis: its result is there in time (watchdog.hpp).
  static constexpr std::uint64_t kLooks = 32, kQuietLooks = 26;

  std::uint64_t look;     // between two looks of the watchdog
  std::uint64_t quiet;    // without progress until the run is given up
  std::uint64_t leaving;  // for cores to leave when no watchdog waits for the end
};

}  // namespace npu::firmware
