// SPDX-License-Identifier: Apache-2.0
// What a core's PMU counts beside the busy time of pipes (abi/pmu.hpp): what units do with the
// local buffers and with global memory. An instruction counts when it takes effect, a request when
// it is sent, what the L2 had of it when it is answered.
#pragma once

#include <array>
#include <cstdint>

#include "model/aicore/pipe_queue.hpp"
#include "model/core/agenda.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

enum class CoreEvent : std::uint8_t {
  // Times: of the cube and the vector unit by the type that they compute in.
  kCubeFloat,
  kCubeInt8,
  kVectorFp32,
  kVectorFp16,
  kVectorFp16Wide,  // conversions from and to four bytes
  kVectorInt32,
  kVectorOther,
  kVectorTaken,  // the next vector instruction waited for the unit alone
  // Accesses, each of so many bytes as abi::kPmuEvents says.
  kUbReads,
  kUbWrites,
  kL1Reads,
  kL1Writes,
  kL2Reads,  // of global memory, what the L2 had
  kL2Writes,
  kMainReads,  // of global memory
  kMainWrites,
  kL0aReads,
  kL0aWrites,
  kL0bReads,
  kL0bWrites,
  kL0cReads,
  kL0cWrites,
  kUbMteReads,
  kUbMteWrites,
  kUbVectorReads,
  kUbVectorWrites,
  kUbScalarReads,
  kUbScalarWrites,
  // Lines that the L2 looked for.
  kL2WriteHits,
  kL2WriteMisses,
  kL2ReadHits,
  kL2ReadMisses,
};
inline constexpr std::size_t kCoreEvents = static_cast<std::size_t>(CoreEvent::kL2ReadMisses) + 1;

class CoreEventCounts {
 public:
  std::uint64_t operator[](CoreEvent event) const {
    return counts_[static_cast<std::size_t>(event)];
  }
  void add(CoreEvent event, std::uint64_t count) {
    counts_[static_cast<std::size_t>(event)] += count;
  }
  // It keeps its unit for `length`; copies have none of interest.
  void executed(const Instruction& instruction, SimTime length);
  // A request to global memory, of a pipe or the scalar unit.
  void sent(bool write, Bytes bytes);
  // Its answer: lines that the L2 had, and had not; none without an L2.
  void answered(bool write, Bytes bytes, std::uint32_t hits, std::uint32_t misses);

 private:
  std::array<std::uint64_t, kCoreEvents> counts_{};
};

}  // namespace npu::model
