// SPDX-License-Identifier: Apache-2.0
// What the groups of a core's PMU count (abi/pmu.hpp), of programs whose counts follow from what
// they do. A cluster of the bench is coupled, so one core has all pipes; its memory has no L2.
#include <gmock/gmock.h>

#include "npu/abi/pmu.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using testing::ElementsAre;

using Counts = std::vector<std::uint32_t>;

// The counters of a group while `body` runs to the end of its pipes.
Counts counted(std::uint32_t group, const std::function<void(AicorePort&)>& body) {
  Counts counts;
  AicoreBench bench;
  auto& cores = bench.cores;
  const auto& events = abi::pmu_group(group).events;
  cores.write(0, abi::FastPathEnable::kOffset, abi::FastPathEnable::kOpen);
  for (unsigned i = 0; i < abi::kPmuCounters; ++i) {
    cores.write(0, abi::PmuCounter0Index::kOffset + i * abi::PmuCounter0Index::kStride, events[i]);
  }
  const auto ended = bench.run_one([&](AicorePort& port) {
    cores.write(0, abi::PmuControl::kOffset, abi::PmuControl::kEnable);
    body(port);
    port.pipe_barrier(Pipe::kAll);
    cores.write(0, abi::PmuControl::kOffset, 0);
    return 0;
  });
  EXPECT_EQ(ended.fault, FaultCode::kNone);
  for (unsigned i = 0; i < abi::kPmuCounters && events[i] != 0; ++i) {
    counts.push_back(cores.read(0, abi::PmuCounter0::kOffset + i * abi::PmuCounter0::kStride));
  }
  return counts;
}

Vector vector_of(VectorOp op, DataType type, DataType to_type = DataType::kFp32) {
  Vector vector;
  vector.op = op;
  vector.type = type;
  vector.to_type = to_type;
  vector.b = 64 * 1024;
  vector.to = 128 * 1024;
  vector.count = 640;
  return vector;
}

CopyIn copy_in(LocalBuffer buffer, std::uint32_t bytes) {
  CopyIn copy;
  copy.to = {buffer, 0};
  copy.from = kData;
  copy.row_bytes = bytes;
  return copy;
}

CopyOut copy_out(LocalBuffer buffer, std::uint32_t bytes) {
  CopyOut copy;
  copy.from = {buffer, 0};
  copy.to = kData;
  copy.row_bytes = bytes;
  return copy;
}

Mmad mmad_of(DataType type, bool accumulate = false) {
  Mmad mmad;
  mmad.m = mmad.n = 32;
  mmad.k = 64;
  mmad.type = type;
  mmad.accumulate = accumulate;
  return mmad;
}

// 640 elements are 10 repeats of fp32; each waits, so that nothing overlaps.
TEST(AicorePmu, ArithmeticIsTheClocksOfEachType) {
  const auto counts = counted(1, [](AicorePort& port) {
    for (const auto& each :
         {vector_of(VectorOp::kMul, DataType::kFp32), vector_of(VectorOp::kMul, DataType::kFp16),
          vector_of(VectorOp::kCast, DataType::kFp16), vector_of(VectorOp::kMul, DataType::kInt32),
          vector_of(VectorOp::kCopy, DataType::kInt8)}) {
      port.issue(each);
      port.pipe_barrier(Pipe::kAll);
    }
    port.issue(mmad_of(DataType::kFp16));
    port.pipe_barrier(Pipe::kAll);
    port.issue(mmad_of(DataType::kInt8));
  });
  // mul: 25 and 2.3 a repeat; others: 20 and 1. Cube: 6, and 16 fractals, of int8 8.
  EXPECT_THAT(counts, ElementsAre(16 + 6, 8 + 6, 25 + 23, 25 + 11, 20 + 10, 25 + 23, 20 + 16 + 3));
}

TEST(AicorePmu, MemoryIsAccessesOfEachBufferAndOfGlobalMemory) {
  const auto counts = counted(4, [](AicorePort& port) {
    port.issue(copy_in(LocalBuffer::kUb, 8192));
    port.issue(copy_in(LocalBuffer::kL1, 4096));
    port.pipe_barrier(Pipe::kAll);
    port.issue(vector_of(VectorOp::kMul, DataType::kFp32));
    port.pipe_barrier(Pipe::kAll);
    port.issue(copy_out(LocalBuffer::kUb, 2560));
    port.issue(copy_out(LocalBuffer::kL1, 1024));
  });
  // UB: 20 + 2 x 20 read, 64 + 20 written, of 128 B; L1 of 512 and 128 B; global memory of 256 B.
  EXPECT_THAT(counts, ElementsAre(60, 84, 2, 32, 0, 0, 32 + 16, 10 + 4));
}

TEST(AicorePmu, L0IsWhatAProductFetchesAndLeaves) {
  const auto counts = counted(5, [](AicorePort& port) {
    LoadL0 load;
    load.rows = 32;
    load.columns = 64;
    load.from_pitch = 128;
    load.to = {LocalBuffer::kL0a, 0};
    port.issue(load);
    load.rows = 64;
    load.columns = 32;
    load.from_pitch = 64;
    load.to = {LocalBuffer::kL0b, 0};
    port.issue(load);
    port.pipe_barrier(Pipe::kAll);
    port.issue(mmad_of(DataType::kFp16));
    port.issue(mmad_of(DataType::kFp16, true));
    port.pipe_barrier(Pipe::kAll);
    Fixpipe out;
    out.to = kData;
    out.m = out.n = 32;
    out.to_pitch = 64;
    port.issue(out);
  });
  // Twice 2 x 2 x 4 fractals; A of 4 KiB by 512 B, B by 256 B; C of 4 KiB by 256 B.
  EXPECT_THAT(counts, ElementsAre(32, 8, 32, 16, 16 + 16, 2 * 16));
}

// The second is taken at once, and waits for the unit; the third comes when the unit is idle.
TEST(AicorePmu, AConflictIsAVectorInstructionThatWaitsForTheUnitAlone) {
  const auto counts = counted(6, [](AicorePort& port) {
    const auto mul = vector_of(VectorOp::kMul, DataType::kFp32);
    port.issue(mul);
    port.issue(mul);
    port.pipe_barrier(Pipe::kAll);
    port.issue(mul);
  });
  // Handed over a clock behind the first one, which takes 25 and 23.
  EXPECT_THAT(counts, ElementsAre(abi::kPmuUnknown, abi::kPmuUnknown, 25 + 23 - kHandOver));
}

TEST(AicorePmu, AWaitForAFlagIsNoConflict) {
  const auto counts = counted(6, [](AicorePort& port) {
    const auto mul = vector_of(VectorOp::kMul, DataType::kFp32);
    port.issue(mul);
    port.issue(copy_in(LocalBuffer::kUb, 65'536));
    port.set_flag(Pipe::kMte2, Pipe::kVector, 0);
    port.wait_flag(Pipe::kMte2, Pipe::kVector, 0);
    port.issue(mul);
  });
  EXPECT_EQ(counts.back(), 0U);
}

TEST(AicorePmu, UbIsWhoReadsAndWritesThere) {
  const auto counts = counted(7, [](AicorePort& port) {
    port.issue(copy_in(LocalBuffer::kUb, 8192));
    port.pipe_barrier(Pipe::kAll);
    port.issue(vector_of(VectorOp::kMul, DataType::kFp32));
    port.pipe_barrier(Pipe::kAll);
    port.store_ub(0, port.load_ub(4) + port.load_ub(8));
    port.issue(copy_out(LocalBuffer::kUb, 2560));
  });
  // MTE: 20 read, 64 written of 128 B; vector: 10 of 512 B, 10 of 256 B; scalar unit: 2, 1.
  EXPECT_THAT(counts, ElementsAre(20, 0, 10, 64, 10, 10, 2, 1));
}

TEST(AicorePmu, WithoutAnL2ThereAreNoHitsAndNoMisses) {
  const auto counts =
      counted(8, [](AicorePort& port) { port.issue(copy_in(LocalBuffer::kUb, 8192)); });
  EXPECT_THAT(counts, ElementsAre(0, 0, 0, 0, 0, 0));
}

}  // namespace
}  // namespace npu::test
