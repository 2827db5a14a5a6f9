// SPDX-License-Identifier: Apache-2.0
// Adds the floats of one cell to those of another, line by line, with the scalar unit, which every
// kind of core has. Words: sum, addend, bytes, all multiples of a line.
#include <cstring>

#include "npu/aicore/kernel.hpp"

namespace {

constexpr std::uint64_t kLine = npu::abi::kCacheLine;

void add_pair(npu::platform::AicorePort& port, std::uint64_t sum, std::uint64_t addend) {
  float a[2], b[2];
  const std::uint64_t left = port.load(sum, sizeof a), right = port.load(addend, sizeof b);
  std::memcpy(a, &left, sizeof a);
  std::memcpy(b, &right, sizeof b);
  for (unsigned i = 0; i < 2; ++i) a[i] += b[i];
  std::uint64_t both = 0;
  std::memcpy(&both, a, sizeof both);
  port.store(sum, sizeof both, both);
}

int add(npu::platform::AicorePort& port) {
  const npu::aicore::Arguments words(port, 3);
  const std::uint64_t sum = words.word(0), addend = words.word(1), lines = words.word(2) / kLine;
  const auto& call = port.call();
  const std::uint64_t end = lines * (call.block + std::uint64_t{1}) / call.blocks;
  for (std::uint64_t line = lines * call.block / call.blocks; line < end; ++line) {
    for (std::uint64_t at = line * kLine; at < (line + 1) * kLine; at += 8) {
      add_pair(port, sum + at, addend + at);
    }
    port.clean_invalidate(sum + line * kLine);
  }
  port.memory_barrier();
  return 0;
}

}  // namespace

NPU_KERNEL(add, 3)
