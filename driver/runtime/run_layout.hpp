// SPDX-License-Identifier: Apache-2.0
// Where the parts of a run lie in its area of device memory (abi/task_graph.hpp): first what is
// uploaded, in one piece, then what starts as zeros, then the copies of tensors.
#pragma once

#include <map>

#include "npu/base/byte_span.hpp"
#include "npu/driver/device_context.hpp"

namespace npu::driver {

// A task's arguments are an address of its own even if it has none: cores that raise flags at each
// other, and timelines, tell tasks apart by it.
Bytes argument_bytes(const TaskGraph::Task& task);

struct RunLayout {
  RunLayout(const TaskGraph& graph, std::uint32_t workers, const RunOptions& options);

  Bytes result = 0;  // offsets from the start of the area
  Bytes descriptors = 0, producers = 0, arguments = 0, dumps = 0;
  Bytes uploaded = 0;  // up to here
  Bytes handshakes = 0, payloads = 0, scratch = 0, records = 0, pmu = 0;
  Bytes zeroed = 0;  // up to here
  Bytes copies = 0;  // of tensors
  Bytes size = 0;
  std::uint64_t record_count = 0, dump_count = 0;
  Bytes scratch_bytes = 0, pmu_bytes = 0;
};

// Copies of tensors that the task asks for.
unsigned dumps_of(const TaskGraph::Task& task);

struct RunTarget {
  std::uint64_t base = 0;  // device address of the area
  std::uint32_t workers = 0, clusters = 0;
};

// Fills [0, layout.uploaded). `kernels`: device address of the image of each kernel id.
void write_run(const TaskGraph& graph, const RunLayout& layout, const RunTarget& target,
               const RunOptions& options, const std::map<std::uint32_t, std::uint64_t>& kernels,
               ByteSpan out);

}  // namespace npu::driver
