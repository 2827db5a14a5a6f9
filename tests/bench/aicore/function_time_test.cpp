// SPDX-License-Identifier: Apache-2.0
// What a vector unit that computes in registers takes for a function, with the figures of the 950.
#include <cmath>

#include "npu/platform/vector_function.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"
#include "tests/bench/aicore/core_config.hpp"

namespace npu::test {
namespace {

using platform::FunctionRows;
using platform::FunctionStep;
using platform::FunctionTensor;
using platform::VectorFunction;

constexpr std::uint32_t kRegister32 = 64;  // elements of fp32
constexpr std::uint32_t kSecondAt = 80 * 1024, kResultAt = 128 * 1024;
constexpr std::uint64_t kStart = 23, kDrain = 12, kLoad = 9;

struct Function {
  std::vector<FunctionTensor> loads{{0, 0, DataType::kFp32, FunctionRows::kOwn, 0}};
  std::vector<FunctionStep> steps;
  std::vector<FunctionTensor> stores{{kResultAt, 0, DataType::kFp32, FunctionRows::kOwn, 1}};
  std::uint32_t count = kRegister32, rows = 1;
  bool by_columns = false;

  VectorFunction view() const {
    VectorFunction f;
    f.loads = loads.data(), f.steps = steps.data(), f.stores = stores.data();
    f.load_count = static_cast<std::uint32_t>(loads.size());
    f.step_count = static_cast<std::uint32_t>(steps.size());
    f.store_count = static_cast<std::uint32_t>(stores.size());
    f.count = count, f.rows = rows, f.by_columns = by_columns;
    return f;
  }
  Function& op(VectorOp op, std::uint8_t to, std::uint8_t a, std::uint8_t b = 0) {
    FunctionStep step;
    step.op = op;
    step.to = to, step.a = a, step.b = b;
    steps.push_back(step);
    return *this;
  }
  Function& of(std::uint32_t registers) {
    count = registers * kRegister32;
    return *this;
  }
};

// Each group of functions by itself, on a core that computes in registers.
Clocks clocks_of(const std::vector<std::vector<Function>>& groups) {
  auto config = aicore_config(model::ProgramCoreKind::kSplit);
  give_functions(config.core);
  AicoreBench bench(config);
  Clocks result;
  const auto body = [&](AicorePort& port) {
    for (const auto& group : groups) {
      const auto begin = clocks(port);
      for (const auto& function : group) port.issue(function.view());
      port.pipe_barrier(Pipe::kAll);
      result.push_back(clocks(port) - begin - kRegister - kHandOver);
    }
    return 0;
  };
  constexpr unsigned kVectorCore = 2;  // behind the cube cores of two clusters
  bench.at(0, [&] { bench.launch(kVectorCore, body); });
  bench.run();
  EXPECT_EQ(bench.ended(kVectorCore).fault, FaultCode::kNone);
  return result;
}
std::uint64_t clocks_of(const Function& function) {
  return clocks_of(std::vector<std::vector<Function>>{{function}}).at(0);
}

// y = a x + y: 305 iterations with two loads and a store take 625 clocks (950.md N8).
TEST(AicoreFunctionTime, OfAxpyIsThatOfItsTrace) {
  Function axpy;
  axpy.loads.push_back({kSecondAt, 0, DataType::kFp32, FunctionRows::kOwn, 2});
  axpy.stores.front().offset = kSecondAt;  // UB of the bench holds no third one
  axpy.op(VectorOp::kMuls, 1, 0).op(VectorOp::kAdd, 1, 1, 2).of(305);
  EXPECT_NEAR(static_cast<double>(clocks_of(axpy)), 625, 3);
}

// 78 rows of 250: the largest of each takes 699 clocks, the sum 792 (950.md N8).
TEST(AicoreFunctionTime, OfARowsReductionIsBetweenThoseOfItsTraces) {
  Function reduction;
  reduction.loads.front().pitch = 256 * 4;
  reduction.stores.front().rows = FunctionRows::kNumber;
  reduction.count = 250, reduction.rows = 78;
  reduction.op(VectorOp::kReduceSum, 1, 0);
  const auto clocks = clocks_of(reduction);
  EXPECT_GE(clocks, 699U);
  EXPECT_LE(clocks, 792U);
}

// 100 iterations: an operation takes half a clock of each, an exponential two, beside their
// latency.
TEST(AicoreFunctionTime, TwoPortsShareTheOperations) {
  Function eight, nine, longer;
  for (auto* const function : {&eight, &nine, &longer}) {
    for (unsigned i = 0; i < 8; ++i) function->op(VectorOp::kAdd, 1, 0, 0);
    function->of(100);
  }
  nine.op(VectorOp::kAdd, 2, 0, 0);
  longer.op(VectorOp::kExp, 2, 0);
  const auto clocks = clocks_of({{eight}, {nine}, {longer}});
  EXPECT_EQ(clocks[0], kStart + kLoad + 7 + kDrain + 100 * (8 + 1) / 2);  // with the mask
  EXPECT_EQ(clocks[1] - clocks[0], 50U);
  EXPECT_EQ(clocks[2] - clocks[0], 200U);
}

// A hundred rows of one register: with two reductions each the first port has twice a row's.
TEST(AicoreFunctionTime, TheFirstPortAloneEndsReductions) {
  Function one;
  one.rows = 100;
  one.stores.front().rows = FunctionRows::kNumber;
  for (std::uint8_t i = 0; i < 8; ++i)
    one.op(VectorOp::kReduceMax, static_cast<std::uint8_t>(i + 1), 0);
  // Of 1 + 8 + 8 operations in a row, eight go to the first port: 8.5 by both.
  EXPECT_EQ(clocks_of(one), kStart + kLoad + 22 + kDrain + 850 + 100 * 4);
}

// 100 rows of three registers: an exponential each, masks and the shared row once a register.
TEST(AicoreFunctionTime, ByColumnsMasksAndSharedRowsAreForAllRows) {
  Function function = Function{}.op(VectorOp::kExp, 1, 0).op(VectorOp::kAdd, 1, 1, 2).of(3);
  function.loads.push_back({kSecondAt, 0, DataType::kFp32, FunctionRows::kShared, 2});
  function.rows = 75, function.by_columns = true;
  EXPECT_EQ(clocks_of(function), kStart + kLoad + 19 + 7 + kDrain + (75 * 3 * 5 + 3) / 2);
}

// A row's addition, 7 clocks, waits for the row before; other columns' go on meanwhile: 78 rows of
// 250 take 757 clocks in the trace, with four sums side by side 364 (950.md N8).
TEST(AicoreFunctionTime, ByColumnsARowWaitsForTheOneBefore) {
  Function sum = Function{}.op(VectorOp::kAdd, 1, 1, 0);
  sum.loads.push_back({kSecondAt, 0, DataType::kFp32, FunctionRows::kShared, 1});
  sum.stores.front().rows = FunctionRows::kShared;
  sum.count = 250, sum.rows = 78, sum.by_columns = true;
  Function lanes = sum;
  lanes.count = 1000, lanes.rows = 20;
  const auto clocks = clocks_of({{sum}, {lanes}});
  EXPECT_EQ(clocks[0], kStart + kLoad + 7 + kDrain + 78 * 7);
  EXPECT_LT(clocks[0], 757U);
  EXPECT_LT(clocks[1], 364U);
}

TEST(AicoreFunctionTime, OneRegisterAClockIsStored) {
  Function two = Function{}.of(100);
  two.stores.front().type = DataType::kFp16;
  two.stores.front().reg = 0;
  two.stores.push_back({kResultAt + 32 * 1024, 0, DataType::kFp16, FunctionRows::kOwn, 0});
  two.loads.front().type = DataType::kFp16;
  two.op(VectorOp::kAdds, 1, 0);  // in fp32: a register of halves takes two stores
  EXPECT_EQ(clocks_of(two), kStart + kLoad + kDrain + 200);
}

// Nothing of the second one begins before the first has ended.
TEST(AicoreFunctionTime, AFunctionIsABarrier) {
  const Function one = Function{}.op(VectorOp::kExp, 1, 0).of(10);
  const auto clocks = clocks_of({{one}, {one, one}});
  EXPECT_EQ(clocks[1], 2 * clocks[0]);
}

// exp of r registers: 1.97 r + 63 (950.md N8); here with the mask's half clock.
TEST(AicoreFunctionTime, APlainInstructionIsAFunctionOfOneOperation) {
  auto config = aicore_config(model::ProgramCoreKind::kSplit);
  give_functions(config.core);
  AicoreBench bench(config);
  std::uint64_t taken = 0;
  bench.at(0, [&] {
    bench.launch(2, [&](AicorePort& port) {
      Vector exp;
      exp.op = VectorOp::kExp;
      exp.count = 100 * kRegister32;
      exp.to = kResultAt;
      const auto begin = clocks(port);
      port.issue(exp);
      port.pipe_barrier(Pipe::kAll);
      taken = clocks(port) - begin - kRegister - kHandOver;
      return 0;
    });
  });
  bench.run();
  EXPECT_EQ(taken, 250 + 63U);
}

TEST(AicoreFunctionTime, ACoreThatComputesInUbHasNoFunctions) {
  AicoreBench bench;
  const Function one = Function{}.op(VectorOp::kExp, 1, 0);
  bool has = true;
  const auto end = bench.run_one([&](AicorePort& port) {
    has = port.has_vector_functions();
    port.issue(one.view());
    return 0;
  });
  EXPECT_FALSE(has);
  EXPECT_EQ(end.fault, FaultCode::kInstruction);
}

}  // namespace
}  // namespace npu::test
