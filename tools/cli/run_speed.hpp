// SPDX-License-Identifier: Apache-2.0
// How fast the simulator was: for whoever waits for it, never part of a report.
#pragma once

#include <chrono>
#include <cstdint>

namespace npu::cli {

class RunSpeed {
 public:
  RunSpeed() : begin_(std::chrono::steady_clock::now()) {}
  // A line on standard error with the wall seconds since then, and events per second: if that is a
  // terminal, or `verbose`.
  void show(std::uint64_t events, bool verbose) const;

 private:
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace npu::cli
