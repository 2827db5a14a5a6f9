// SPDX-License-Identifier: Apache-2.0
// Vector functions that a core cannot execute. No simulation.
#include <gtest/gtest.h>

#include <vector>

#include "model/aicore/function_checks.hpp"

namespace npu::model {
namespace {

using abi::FaultCode;
using platform::DataType;
using platform::FunctionRows;
using platform::FunctionStep;
using platform::FunctionTensor;
using platform::VectorFunction;
using platform::VectorOp;

constexpr BufferSizes kAiv{0, 0, 0, 0, 192_KiB};
constexpr std::uint32_t kEnd = 192 * 1024, kResultAt = 64 * 1024;

class AicoreFunctionChecks : public testing::Test {
 protected:
  FaultCode check() {
    VectorFunction f;
    f.loads = loads.data(), f.steps = steps.data(), f.stores = stores.data();
    f.load_count = static_cast<std::uint32_t>(loads.size());
    f.step_count = static_cast<std::uint32_t>(steps.size());
    f.store_count = static_cast<std::uint32_t>(stores.size());
    f.count = count, f.rows = rows, f.by_columns = by_columns;
    return model::check(kAiv, f, true);
  }
  static FunctionStep step(VectorOp op) {
    FunctionStep made;
    made.op = op;
    made.to = 1;
    return made;
  }

  std::vector<FunctionTensor> loads{{0, 0, DataType::kFp32, FunctionRows::kOwn, 0}};
  std::vector<FunctionStep> steps{step(VectorOp::kExp)};
  std::vector<FunctionTensor> stores{{kResultAt, 0, DataType::kFp32, FunctionRows::kOwn, 1}};
  std::uint32_t count = 64, rows = 2;
  bool by_columns = false;
};

TEST_F(AicoreFunctionChecks, TensorsAreInUbAndAligned) {
  EXPECT_EQ(check(), FaultCode::kNone);
  stores.front().offset = kEnd - 2 * 64 * 4;
  EXPECT_EQ(check(), FaultCode::kNone);
  stores.front().offset += 32;
  EXPECT_EQ(check(), FaultCode::kLocalBuffer);
  stores.front().offset = kResultAt + 8;
  EXPECT_EQ(check(), FaultCode::kLocalAlignment);
  stores.front().offset = kResultAt;
  loads.front().pitch = 264;
  EXPECT_EQ(check(), FaultCode::kLocalAlignment);
  loads.front().pitch = kEnd;
  EXPECT_EQ(check(), FaultCode::kLocalBuffer);
}

TEST_F(AicoreFunctionChecks, CountsAndNumbersAreInRange) {
  for (auto* const number : {&count, &rows}) {
    const auto before = *number;
    *number = 0;
    EXPECT_EQ(check(), FaultCode::kInstruction);
    *number = ~0U;
    EXPECT_EQ(check(), FaultCode::kLocalBuffer);
    *number = before;
  }
  steps.assign(platform::kMostFunctionSteps + 1, step(VectorOp::kExp));
  EXPECT_EQ(check(), FaultCode::kInstruction);
  steps.resize(1);
  loads.assign(platform::kMostFunctionTensors, loads.front());
  EXPECT_EQ(check(), FaultCode::kInstruction);
  loads.resize(1);
  stores.clear();
  EXPECT_EQ(check(), FaultCode::kInstruction);
}

TEST_F(AicoreFunctionChecks, RegistersAreThere) {
  for (auto field : {&FunctionStep::to, &FunctionStep::a, &FunctionStep::b}) {
    steps = {step(VectorOp::kAdd)};
    steps.front().*field = platform::kVectorRegisters;
    EXPECT_EQ(check(), FaultCode::kInstruction);
  }
  steps = {step(VectorOp::kExp), step(VectorOp::kCompare)};
  EXPECT_EQ(check(), FaultCode::kNone);
  steps.back().to = platform::kMaskRegisters;
  EXPECT_EQ(check(), FaultCode::kInstruction);
  steps = {step(VectorOp::kSelect)};
  steps.front().mask = platform::kMaskRegisters;
  EXPECT_EQ(check(), FaultCode::kInstruction);
  steps.clear();
  loads.front().reg = platform::kVectorRegisters;
  EXPECT_EQ(check(), FaultCode::kInstruction);
}

TEST_F(AicoreFunctionChecks, WhatIsReadHasBeenWritten) {
  stores.front().reg = 2;
  EXPECT_EQ(check(), FaultCode::kInstruction);
  stores.front().reg = 1;
  for (auto field : {&FunctionStep::a, &FunctionStep::b}) {
    steps = {step(VectorOp::kAdd)};
    steps.front().*field = 1;
    EXPECT_EQ(check(), FaultCode::kInstruction);
  }
  steps = {step(VectorOp::kSelect)};
  EXPECT_EQ(check(), FaultCode::kInstruction);
  steps.insert(steps.begin(), step(VectorOp::kCompare));
  steps.front().to = 0;
  EXPECT_EQ(check(), FaultCode::kNone);
}

TEST_F(AicoreFunctionChecks, StepsAreOperationsOfRegisters) {
  for (const auto op : {VectorOp::kTranspose, VectorOp::kBroadcast, VectorOp::kBroadcastSub,
                        static_cast<VectorOp>(platform::kVectorOps)}) {
    steps = {step(op)};
    EXPECT_EQ(check(), FaultCode::kInstruction);
  }
  steps = {step(VectorOp::kExp)};
  steps.front().type = DataType::kInt32;
  EXPECT_EQ(check(), FaultCode::kInstruction);
  steps = {step(VectorOp::kMax)};
  steps.front().type = DataType::kBf16;
  EXPECT_EQ(check(), FaultCode::kNone);
  steps = {step(VectorOp::kAdd)};
  steps.front().type = DataType::kBf16;
  EXPECT_EQ(check(), FaultCode::kInstruction);
  steps = {step(VectorOp::kCast)};
  steps.front().to = steps.front().a;
  EXPECT_EQ(check(), FaultCode::kInstruction);
}

TEST_F(AicoreFunctionChecks, AStoreSparesWhatIsStillToBeRead) {
  stores.front().offset = 0;
  EXPECT_EQ(check(), FaultCode::kNone);
  stores.front().offset = 32;
  EXPECT_EQ(check(), FaultCode::kInstruction);
  stores.front().offset = 0;
  loads.front().type = DataType::kFp16;
  EXPECT_EQ(check(), FaultCode::kInstruction);
  loads.front() = {0, 0, DataType::kFp32, FunctionRows::kShared, 0};
  EXPECT_EQ(check(), FaultCode::kInstruction);
  loads.front() = {kResultAt, 0, DataType::kFp32, FunctionRows::kOwn, 0};
  stores.front() = {kResultAt, 0, DataType::kFp32, FunctionRows::kShared, 1};
  EXPECT_EQ(check(), FaultCode::kInstruction);
}

TEST_F(AicoreFunctionChecks, ByColumnsRowsAreSharedButNotBroughtTogether) {
  by_columns = true;
  EXPECT_EQ(check(), FaultCode::kNone);
  stores.front().rows = FunctionRows::kShared;
  EXPECT_EQ(check(), FaultCode::kNone);
  loads.push_back({kResultAt, 0, DataType::kFp32, FunctionRows::kShared, 1});
  EXPECT_EQ(check(), FaultCode::kNone) << "in place";
  loads.back().offset += 32;
  EXPECT_EQ(check(), FaultCode::kInstruction);
  loads.pop_back();
  stores.front() = {0, 0, DataType::kFp32, FunctionRows::kOwn, 1};
  EXPECT_EQ(check(), FaultCode::kNone) << "in place";
  loads.front().pitch = 512;  // a second row's first columns before the first one's last
  EXPECT_EQ(check(), FaultCode::kInstruction);
  stores.front() = {kResultAt, 0, DataType::kFp32, FunctionRows::kNumber, 1};
  EXPECT_EQ(check(), FaultCode::kInstruction);
  stores.front().rows = FunctionRows::kOwn;
  steps = {step(VectorOp::kReduceSum)};
  EXPECT_EQ(check(), FaultCode::kInstruction);
}

}  // namespace
}  // namespace npu::model
