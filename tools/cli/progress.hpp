// SPDX-License-Identifier: Apache-2.0
// How far a run is: a line that changes on a terminal; elsewhere one line per tenth. Nothing of
// what ends within two seconds. Only here and in what is drawn of a run does wall time count.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "npu/base/units.hpp"
#include "tools/cli/terminal/terminal_line.hpp"

namespace npu::cli {

using WallTime = std::chrono::milliseconds;

// "12.345 us", in the unit that leaves one to three digits before the point.
std::string time_text(Picoseconds time);

// What a workload has said of its way, and what follows from it.
class ProgressState {
 public:
  // `now` since the start of the run. What counts again from below is another part of the run.
  void step(std::string_view what, std::uint64_t done, std::uint64_t total, WallTime now);
  // "h2d 1MiB, 40 %, 12 s left", or without a total "scanning, 1.500 ms simulated, 0.500 ms/s".
  std::string text(Picoseconds simulated, WallTime now) const;
  // Of this part: 0 to 10, and when it began.
  unsigned tenths() const;
  // In the workload's words, which may be none.
  const std::string& what() const { return what_; }
  // 0 to 1, of this part; below 0: not known.
  double share() const;
  WallTime began() const { return began_; }

 private:
  bool has_total() const { return total_ > 1; }

  std::string what_;
  std::uint64_t done_ = 0, total_ = 0;
  WallTime began_{0}, stepped_{0};
};

class RunProgress {
 public:
  static constexpr WallTime kQuiet{2000};            // on a terminal
  static constexpr WallTime kQuietElsewhere{10000};  // logs want less

  // `silent`: only keeps what is said.
  RunProgress(std::string name, bool silent);
  void step(std::string_view what, std::uint64_t done, std::uint64_t total);
  // Draws on a terminal; now and then, as wall time goes.
  void tick(Picoseconds simulated);
  void erase() { line_.erase(); }
  const ProgressState& state() const { return state_; }
  WallTime elapsed() const;
  bool on_terminal() const { return terminal_ && !silent_; }

 private:
  std::string name_;
  bool silent_;
  bool terminal_;
  std::chrono::steady_clock::time_point start_;
  Picoseconds simulated_{0};
  ProgressState state_;
  unsigned tenths_ = 0;  // that have been told
  TerminalLine line_;
};

}  // namespace npu::cli
