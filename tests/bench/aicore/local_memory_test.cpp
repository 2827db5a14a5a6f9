// SPDX-License-Identifier: Apache-2.0
// What instructions leave in the local buffers when the model puts off moving bytes: every product
// sees what lay in L0A and L0B when it was issued. No simulation.
#include "model/aicore/local_memory.hpp"

#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint32_t kSize = 16;                              // of every matrix, fp32
constexpr std::uint32_t kRow = kSize * 4, kTile = kSize * kRow;  // bytes
constexpr std::uint64_t kOnes = kData, kTwos = kData + kTile, kSum = kData + 0x1'0000;

struct Local {
  Local() {
    for (std::uint32_t i = 0; i < kSize * kSize; ++i) {
      memory.store(kOnes + 4 * i, 1.0F);
      memory.store(kTwos + 4 * i, 2.0F);
    }
  }
  void execute(const model::Instruction& instruction) {
    EXPECT_EQ(local.execute(instruction, {}, memory, 0).code, FaultCode::kNone);
  }
  void copy(std::uint32_t to, std::uint64_t from) {
    execute(CopyIn{{LocalBuffer::kL1, to}, from, kSize, kRow, kRow, kRow});
  }
  void load(LocalBuffer to, std::uint32_t offset, std::uint32_t from, std::uint32_t rows = kSize) {
    execute(LoadL0{{to, offset}, from, rows, kSize, kRow, DataType::kFp32, false});
  }
  void multiply(std::uint32_t m = kSize, bool accumulate = false) {
    execute(Mmad{0, 0, 0, m, kSize, kSize, DataType::kFp32, accumulate});
  }
  float result(std::uint32_t row) {
    execute(Fixpipe{kSum, 0, row + 1, kSize, kRow, DataType::kFp32, DataType::kFp32});
    return memory.load<float>(kSum + row * kRow);
  }

  model::MemoryWatch watch;
  PlainMemory memory{watch};
  model::LocalMemory local{{512_KiB, 64_KiB, 64_KiB, 128_KiB, 192_KiB}, true};
};

// Ones in L1 at 0, twos behind; ones in L0A and L0B.
void load_ones(Local& core) {
  core.copy(0, kOnes);
  core.copy(kTile, kTwos);
  core.load(LocalBuffer::kL0a, 0, 0);
  core.load(LocalBuffer::kL0b, 0, 0);
}

TEST(AicoreLocalMemory, KeepsInL0WhatL1HeldWhenItWasLoaded) {
  Local core;
  load_ones(core);
  core.copy(kTile - kRow, kTwos);  // over the last row of what was loaded

  core.multiply();

  EXPECT_EQ(core.result(kSize - 1), 1.0F * kSize);
}

TEST(AicoreLocalMemory, MultipliesWhatL1HeldWhenTheProductWasIssued) {
  Local core;
  load_ones(core);
  core.multiply();
  core.multiply(kSize, true);
  core.copy(0, kTwos);

  EXPECT_EQ(core.result(0), 2.0F * kSize);
}

TEST(AicoreLocalMemory, MultipliesWhatWasLoadedLast) {
  Local core;
  load_ones(core);
  core.multiply();
  core.load(LocalBuffer::kL0a, 0, kTile);  // twos, all of it
  core.multiply(kSize, true);

  EXPECT_EQ(core.result(0), 3.0F * kSize);
}

TEST(AicoreLocalMemory, PutsLoadsTogether) {
  Local core;
  load_ones(core);
  core.load(LocalBuffer::kL0a, kTile / 2, kTile, kSize);  // twos over half of the ones and behind
  core.multiply(kSize + kSize / 2);

  EXPECT_EQ(core.result(kSize / 2 - 1), 1.0F * kSize);
  EXPECT_EQ(core.result(kSize / 2), 2.0F * kSize);
  EXPECT_EQ(core.result(kSize + kSize / 2 - 1), 2.0F * kSize);
}

TEST(AicoreLocalMemory, BeginsAnewWithoutAccumulation) {
  Local core;
  load_ones(core);
  core.multiply();
  core.multiply();

  EXPECT_EQ(core.result(0), 1.0F * kSize);
}

// 1 + 2^-11 is no half: fp32 sums keep it, in the order of k, however the product is cut.
TEST(AicoreLocalMemory, GivesTheSameBitsHoweverKIsCut) {
  std::array<std::vector<float>, 2> sums;
  for (const unsigned pieces : {1U, 4U}) {
    Local core;
    for (std::uint32_t i = 0; i < 64 * 64; ++i) {
      core.memory.store(kData + 2 * i, static_cast<std::uint16_t>(0x2C00 + i * 7 % 4096));
    }
    core.execute(CopyIn{{LocalBuffer::kL1, 0}, kData, 64, 128, 128, 128});
    const std::uint32_t k = 64 / pieces;
    for (std::uint32_t i = 0; i < pieces; ++i) {
      core.execute(LoadL0{{LocalBuffer::kL0a, 0}, 2 * i * k, 64, k, 128, DataType::kFp16, false});
      core.execute(LoadL0{{LocalBuffer::kL0b, 0}, i * k * 128, k, 64, 128, DataType::kFp16, false});
      core.execute(Mmad{0, 0, 0, 64, k, 64, DataType::kFp16, i != 0});
      if (i == 1) core.result(0);
    }
    core.result(63);
    auto& all = sums[pieces == 1 ? 0 : 1];
    for (std::uint32_t i = 0; i < kSize; ++i) all.push_back(core.memory.load<float>(kSum + 4 * i));
  }
  EXPECT_NE(sums[0][0], sums[0][1]);
  EXPECT_EQ(sums[0], sums[1]);
}

}  // namespace
}  // namespace npu::test
