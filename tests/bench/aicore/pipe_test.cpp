// SPDX-License-Identifier: Apache-2.0
// What instructions take, alone and one behind another (hardware.md, "AI Core").
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using platform::CopyIn;
using platform::CopyOut;
using platform::DataType;
using platform::Fixpipe;
using platform::LoadL0;
using platform::LocalBuffer;
using platform::Mmad;
using platform::Vector;
using platform::VectorOp;

constexpr SimTime kStart = 1;  // of an instruction behind its hand-over: issue_clocks

// Clocks from before `work` until all pipes are done.
std::uint64_t measure(const std::function<void(AicorePort&)>& work,
                      const model::ChipConfig& config = aicore_config()) {
  AicoreBench bench(config);
  std::uint64_t taken = 0;
  const auto end = bench.run_one([&](AicorePort& port) {
    const auto begin = clocks(port);
    work(port);
    port.pipe_barrier(Pipe::kAll);
    taken = clocks(port) - begin - config.core.register_clocks;
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kNone);
  return taken;
}

Mmad mmad(std::uint32_t m, std::uint32_t k, std::uint32_t n, DataType type) {
  Mmad instruction;
  instruction.m = m;
  instruction.k = k;
  instruction.n = n;
  instruction.type = type;
  return instruction;
}

Vector vector(VectorOp op, std::uint32_t count, DataType type = DataType::kFp32) {
  Vector instruction;
  instruction.op = op;
  instruction.type = type;
  instruction.a = 64 * 1024;
  instruction.b = 128 * 1024;
  instruction.count = count;
  return instruction;
}

// The references of hardware.md.
TEST(AicorePipe, takes_the_published_clocks_for_a_product) {
  const struct {
    Mmad instruction;
    std::uint64_t clocks;
  } rows[] = {{mmad(40, 60, 50, DataType::kFp16), 54},
              {mmad(128, 64, 128, DataType::kFp16), 262},
              {mmad(6, 8, 7, DataType::kInt8), 7}};
  AicoreBench bench;
  bench.run_one([&](AicorePort& port) {
    for (const auto& row : rows) {
      const auto begin = clocks(port);
      port.issue(row.instruction);
      port.pipe_barrier(Pipe::kAll);
      EXPECT_EQ(clocks(port) - begin - 5, kStart + row.clocks);
    }
    return 0;
  });
}

TEST(AicorePipe, takes_the_published_clocks_for_a_product_in_fp32) {
  EXPECT_EQ(measure([](AicorePort& port) { port.issue(mmad(120, 50, 110, DataType::kFp32)); }),
            kStart + 902);
}

TEST(AicorePipe, fills_the_cube_once_for_products_right_behind_one_another) {
  EXPECT_EQ(measure([](AicorePort& port) {
              for (int i = 0; i < 5; ++i) port.issue(mmad(128, 64, 128, DataType::kFp16));
            }),
            kStart + 5 * 256 + 6);
}

TEST(AicorePipe, fills_the_cube_for_each_product_between_barriers) {
  EXPECT_EQ(measure([](AicorePort& port) {
              for (int i = 0; i < 5; ++i) {
                port.issue(mmad(128, 64, 128, DataType::kFp16));
                port.pipe_barrier(Pipe::kCube);
              }
            }),
            kStart + 5 * 262);
}

TEST(AicorePipe, takes_slope_and_fixed_clocks_for_a_vector_instruction) {
  const auto add = [](AicorePort& port) { port.issue(vector(VectorOp::kAdd, 100 * 64)); };
  EXPECT_EQ(measure(add), kStart + 211 + 24);
  const auto half = [](AicorePort& port) {
    port.issue(vector(VectorOp::kAdd, 100 * 64, DataType::kFp16));
  };
  EXPECT_EQ(measure(half), kStart + 50 * 211 / 100 + 24);  // twice the lanes
}

}  // namespace
}  // namespace npu::test
