// SPDX-License-Identifier: Apache-2.0
// What instructions take, alone and one behind another (hardware.md H17).
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

// Clocks from before `work` until all pipes are done.
std::uint64_t drained_after(AicorePort& port, const std::function<void()>& work) {
  const auto begin = clocks(port);
  work();
  port.pipe_barrier(Pipe::kAll);
  return clocks(port) - begin - kRegister;
}

// The same of `work` in a program of its own.
std::uint64_t measure(const std::function<void(AicorePort&)>& work,
                      const model::ChipConfig& config = aicore_config()) {
  AicoreBench bench(config);
  std::uint64_t result = 0;
  const auto end = bench.run_one([&](AicorePort& port) {
    result = drained_after(port, [&] { work(port); });
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kNone);
  return result;
}

Mmad mmad(std::uint32_t m, std::uint32_t k, std::uint32_t n, DataType type) {
  Mmad instruction;
  instruction.m = m;
  instruction.k = k;
  instruction.n = n;
  instruction.type = type;
  return instruction;
}

Vector piped_vector(VectorOp op, std::uint32_t count, DataType type = DataType::kFp32) {
  Vector instruction;
  instruction.op = op;
  instruction.type = type;
  instruction.a = 64 * 1024;
  instruction.b = 128 * 1024;
  instruction.count = count;
  return instruction;
}

// The references of hardware.md H18.
TEST(AicorePipe, TakesThePublishedClocksForAProduct) {
  const struct {
    Mmad instruction;
    std::uint64_t clocks;
  } rows[] = {{mmad(40, 60, 50, DataType::kFp16), 54},
              {mmad(128, 64, 128, DataType::kFp16), 262},
              {mmad(6, 8, 7, DataType::kInt8), 7}};
  AicoreBench bench;
  bench.run_one([&](AicorePort& port) {
    for (const auto& row : rows) {
      EXPECT_EQ(drained_after(port, [&] { port.issue(row.instruction); }), kHandOver + row.clocks);
    }
    return 0;
  });
}

TEST(AicorePipe, TakesThePublishedClocksForAProductInFp32) {
  EXPECT_EQ(measure([](AicorePort& port) { port.issue(mmad(120, 50, 110, DataType::kFp32)); }),
            kHandOver + 902);
}

TEST(AicorePipe, FillsTheCubeOnceForProductsRightBehindOneAnother) {
  EXPECT_EQ(measure([](AicorePort& port) {
              for (int i = 0; i < 5; ++i) port.issue(mmad(128, 64, 128, DataType::kFp16));
            }),
            kHandOver + 5 * 256 + 6);
}

TEST(AicorePipe, FillsTheCubeForEachProductBetweenBarriers) {
  EXPECT_EQ(measure([](AicorePort& port) {
              for (int i = 0; i < 5; ++i) {
                port.issue(mmad(128, 64, 128, DataType::kFp16));
                port.pipe_barrier(Pipe::kCube);
              }
            }),
            kHandOver + 5 * 262);
}

// hardware.md H20, fp32: r repeats cost slope r + fixed.
TEST(AicorePipe, TakesSlopeAndFixedClocksForAVectorInstruction) {
  const struct {
    VectorOp op;
    std::uint64_t clocks;  // of 100 repeats
  } rows[] = {{VectorOp::kAdd, 211 + 24}, {VectorOp::kSub, 211 + 24}, {VectorOp::kMul, 230 + 25},
              {VectorOp::kMax, 201 + 23}, {VectorOp::kDiv, 403 + 31}, {VectorOp::kExp, 200 + 31}};
  AicoreBench bench;
  bench.run_one([&](AicorePort& port) {
    for (const auto& row : rows) {
      EXPECT_EQ(drained_after(port, [&] { port.issue(piped_vector(row.op, 6400)); }),
                kHandOver + row.clocks);
    }
    // Twice the lanes in fp16.
    EXPECT_EQ(drained_after(
                  port, [&] { port.issue(piped_vector(VectorOp::kMul, 12'800, DataType::kFp16)); }),
              kHandOver + 230 + 25);
    return 0;
  });
}

TEST(AicorePipe, ExposesLessOfVectorInstructionsRightBehindAnother) {
  EXPECT_EQ(measure([](AicorePort& port) {
              for (int i = 0; i < 3; ++i) port.issue(piped_vector(VectorOp::kMul, 640));
            }),
            kHandOver + (23 + 25) + 2 * (23 + 16));
}

TEST(AicorePipe, TakesLongerForATailAndForEachOfSeveralRows) {
  AicoreBench bench;
  bench.run_one([&](AicorePort& port) {
    // 65 elements: two repeats and a tail.
    EXPECT_EQ(drained_after(port, [&] { port.issue(piped_vector(VectorOp::kExp, 65)); }),
              kHandOver + 4 + 31 + 16);
    auto rows = piped_vector(VectorOp::kExp, 64);
    rows.rows = 10;
    rows.to_pitch = rows.a_pitch = 512;
    EXPECT_EQ(drained_after(port, [&] { port.issue(rows); }), kHandOver + 20 + 31);
    auto sums = piped_vector(VectorOp::kReduceSum, 64);
    sums.rows = 10;
    EXPECT_EQ(drained_after(port, [&] { port.issue(sums); }), kHandOver + 10 + 20);
    sums.count = 128;  // halves are brought together before they are one repeat
    EXPECT_EQ(drained_after(port, [&] { port.issue(sums); }), kHandOver + 10 * (2 + 10) + 20);
    return 0;
  });
}

TEST(AicorePipe, MovesWholeFractalsAtTheRateOfEachL0Buffer) {
  LoadL0 load;
  load.rows = 127;
  load.columns = 64;
  load.from_pitch = 128;
  AicoreBench bench;
  bench.run_one([&](AicorePort& port) {
    load.to = {LocalBuffer::kL0a, 0};
    EXPECT_EQ(drained_after(port, [&] { port.issue(load); }), kHandOver + 128 * 128 / 256);
    load.to = {LocalBuffer::kL0b, 0};
    EXPECT_EQ(drained_after(port, [&] { port.issue(load); }), kHandOver + 128 * 128 / 128);
    return 0;
  });
}

}  // namespace
}  // namespace npu::test
