// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/run_speed.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace npu::cli {

void RunSpeed::show(std::uint64_t events, bool verbose) const {
  if (!verbose && isatty(STDERR_FILENO) != 1) return;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin_;
  const double rate = wall.count() > 0 ? static_cast<double>(events) / wall.count() : 0;
  const std::string line = fmt::format(
      "npusim: {:.2f} s of wall time, {} events, {:.0f} events/s\n", wall.count(), events, rate);
  std::fputs(line.c_str(), stderr);
}

}  // namespace npu::cli
