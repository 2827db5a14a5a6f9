// SPDX-License-Identifier: Apache-2.0
// Data of collective operations and what must come of them. Elements are small integers, of which
// every type holds the sums of all ranks exactly, so that the order of a reduction does not matter.
#pragma once

#include <string>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/driver/collectives.hpp"

namespace npu::workloads {

driver::CollectiveType collective_type(const std::string& name);  // "fp32"
std::string name_of(driver::CollectiveType type);
driver::CollectiveOperation collective_operation(const std::string& name);
driver::CollectiveAlgorithm collective_algorithm(const std::string& name);
driver::Reduction collective_reduction(const std::string& name);  // "sum"
std::vector<std::string> collective_types();
std::vector<std::string> collective_operations();  // those that a workload can run
std::vector<std::string> collective_algorithms();

// What an operation does for ranks that all have `count` elements of a block. Blocks are the parts
// of a rank's memory: one, or one for each rank.
struct CollectiveProblem {
  driver::CollectiveOperation operation = driver::CollectiveOperation::kAllReduce;
  driver::Reduction reduction = driver::Reduction::kSum;
  driver::CollectiveType type = driver::CollectiveType::kFp32;
  unsigned ranks = 2;
  unsigned root = 0;
  std::uint64_t count = 0;
  std::uint64_t seed = 0;

  unsigned blocks_from() const;
  unsigned blocks_to() const;
  Bytes block_bytes() const { return count * abi::element_size(type); }
  // Of hccl_test and nccl-tests: the larger side of a rank.
  Bytes bytes() const { return block_bytes() * std::max(blocks_from(), blocks_to()); }
  // What the links must carry for each byte of bytes(), as nccl-tests has it, in 1/ranks.
  std::uint64_t bus_factor() const;

  // Elements [first, first + bytes / size) of a rank's block before, and after; `to` is the rank's
  // result. False: it has none there.
  void fill(unsigned rank, unsigned block, std::uint64_t first, ByteSpan bytes) const;
  bool expect(unsigned rank, unsigned block, std::uint64_t first, ByteSpan bytes) const;

 private:
  std::int64_t input(unsigned rank, unsigned block, std::uint64_t index) const;
  std::int64_t reduced(unsigned block, std::uint64_t index) const;
};

// A small integer as an element of the type.
void store_small(driver::CollectiveType type, std::byte* at, std::int64_t value);

}  // namespace npu::workloads
