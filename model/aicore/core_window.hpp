// SPDX-License-Identifier: Apache-2.0
// The registers of one core's window (abi/core_registers.hpp), without any time.
#pragma once

#include <array>
#include <cstdint>

#include "model/aicore/instruction_times.hpp"
#include "model/aicore/statistics.hpp"
#include "npu/abi/core_registers.hpp"
#include "npu/abi/fault.hpp"

namespace npu::model {

class CoreWindow {
 public:
  CoreWindow(const ProgramCoreStatistics& statistics, const CoreClock& clock)
      : statistics_(statistics), clock_(clock) {}

  std::uint32_t read(std::uint32_t offset) const;
  // True if DATA_MAIN_BASE or its doorbell has another value now.
  bool write(std::uint32_t offset, std::uint32_t value);
  void reset();

  // Of the core itself.
  void launched();
  void ended(abi::FaultCode fault);
  void set_cond(std::uint32_t value) { cond_ = value; }
  std::uint64_t data_main_base() const { return std::uint64_t{doorbell_} << 32 | data_main_base_; }

 private:
  static constexpr unsigned kCounters = abi::PmuCounter0::kCounters;
  bool open() const { return fast_path_ == abi::FastPathEnable::kOpen; }
  std::uint32_t read_open(std::uint32_t offset) const;
  std::uint32_t counter(unsigned index) const;
  std::uint64_t clocks(SimTime time) const;
  void control_pmu(std::uint32_t value);

  const ProgramCoreStatistics& statistics_;
  const CoreClock& clock_;
  std::uint32_t control_ = 0, status_ = 0, fast_path_ = 0, cond_ = 0;
  std::uint32_t data_main_base_ = 0, doorbell_ = 0, pmu_control_ = 0;
  std::array<std::uint32_t, kCounters> events_{};
  // Counters begin where they stand when the PMU is switched on, and stand still when it is off.
  ProgramCoreStatistics began_, stopped_;
  SimTime began_at_ = 0, stopped_at_ = 0;
};

}  // namespace npu::model
