// SPDX-License-Identifier: Apache-2.0
// Tasks that copy and wait in a loop, each on a stream of its own, and what waiting cost them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "npu/driver/device.hpp"
#include "workloads/framework/context.hpp"
#include "workloads/framework/measurement.hpp"

namespace npu::workloads {

struct WaitShape {
  driver::WaitPolicy policy = driver::WaitPolicy::kPolling;
  abi::DmaOpcode opcode = abi::DmaOpcode::kHostToDevice;
  Bytes size = 64;
  std::uint64_t tasks = 1;
  std::uint64_t iterations = 1;  // measured, per task
  std::uint64_t warm_up = 0;     // before those, for policies that learn
};

// Sums over all tasks and measured iterations.
struct WaitTotals {
  std::uint64_t waits = 0;
  Picoseconds latency;     // submit() called to wait() returned
  Picoseconds worst;       // the longest of them
  Picoseconds wait_time;   // wait() called to returned
  platform::CpuUsage cpu;  // consumed inside wait()

  std::vector<MeasuredSpan> spans;  // of the latencies, if somebody records events

  Picoseconds mean_latency() const { return mean(latency, waits); }
  void add(const WaitTotals& other);
};

// Runs `shape` on fresh streams and joins all tasks. The first task's error, if any.
Result<WaitTotals> run_waiters(Context& context, driver::Device& device, const WaitShape& shape);

}  // namespace npu::workloads
