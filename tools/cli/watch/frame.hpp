// SPDX-License-Identifier: Apache-2.0
// What --watch shows, as lines of text.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/progress.hpp"
#include "tools/cli/terminal/terminal.hpp"
#include "tools/cli/watch/machine_activity.hpp"

namespace npu::cli {

struct WatchFrame {
  std::string title;         // workload and machine
  WallTime elapsed{0};       // since the start of the run
  Picoseconds simulated{0};  // and per second of wall time, since the last frame
  Picoseconds simulated_rate{0};
  std::uint64_t events = 0;  // that the models have served
  double event_rate = 0;
  std::string progress;  // in the workload's words
  double done = -1;      // share of the workload; below 0: not known
  std::vector<MachineActivity::Unit> units;
  std::uint64_t faults = 0, queues = 0, slots = 0, blocks = 0;
  MachineActivity::Requests commands, entries;
};

// At most `size.rows` lines of at most `size.columns` characters.
std::vector<std::string> lines_of(const WatchFrame& frame, TerminalSize size);

}  // namespace npu::cli
