// SPDX-License-Identifier: Apache-2.0
// What software on the host has done to the machine since the start.
#pragma once

#include <array>
#include <cstdint>

namespace npu::model {

struct HostStatistics {
  static constexpr unsigned kBars = 6;

  std::uint64_t mmio_reads = 0;
  std::uint64_t mmio_writes = 0;                 // posted writes sent; combined stores are one
  std::array<std::uint64_t, kBars> bar_reads{};  // of them through a mapped BAR
  std::array<std::uint64_t, kBars> bar_writes{};
  std::uint64_t combining_stores = 0;
  std::uint64_t config_reads = 0;
  std::uint64_t config_writes = 0;
  std::uint64_t write_barriers = 0;
  std::uint64_t read_barriers = 0;
  std::uint64_t polls = 0;       // rounds of poll loops, those included that the simulator skips
  std::uint64_t poll_calls = 0;  // of Clock::relax()
};

}  // namespace npu::model
