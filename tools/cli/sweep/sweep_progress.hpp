// SPDX-License-Identifier: Apache-2.0
// How far a sweep is, on standard error: a line that changes on a terminal, and one line per tenth
// where there is none.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "tools/cli/terminal/terminal_line.hpp"

namespace npu::sweep {

struct SweepState {
  std::size_t total = 0;
  std::size_t before = 0;  // done by an earlier start
  std::size_t done = 0;    // by this one
  std::size_t failed = 0;
  std::size_t running = 0;

  std::size_t ended() const { return done + failed; }
  std::size_t left() const { return total - before - ended(); }
};

// "12 of 64 done, 2 running, 1 failed, 40 s left"; `elapsed` since this start.
std::string progress_text(const SweepState& state, std::chrono::seconds elapsed);

class SweepProgress {
 public:
  // `quiet`: says nothing at all.
  explicit SweepProgress(std::string name, bool quiet = false);

  bool on_terminal() const { return terminal_; }
  void show(const SweepState& state);
  // A line that stays.
  void say(const std::string& line);

 private:
  std::string name_;
  bool quiet_;
  bool terminal_;
  std::chrono::steady_clock::time_point start_;
  cli::TerminalLine line_;
  std::size_t tenths_ = 0;
};

}  // namespace npu::sweep
