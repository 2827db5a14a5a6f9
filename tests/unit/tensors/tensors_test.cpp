// SPDX-License-Identifier: Apache-2.0
// The program on a flat memory: operations, repeated sides, parts of several AICPUs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "npu/abi/tensor_work.hpp"
#include "npu/platform/aicpu_port.hpp"

extern "C" int npu_aicpu_main(npu::platform::AicpuPort& port);

namespace npu::test {
namespace {

using abi::TensorNumber;
using abi::TensorOperation;
using abi::TensorWork;

// Only what a program of elements uses has an effect.
class FlatPort : public platform::AicpuPort {
 public:
  FlatPort(std::vector<std::byte>& memory, unsigned thread, unsigned threads)
      : memory_(memory), thread_(thread), threads_(threads) {}
  unsigned thread() const override { return thread_; }
  unsigned threads() const override { return threads_; }
  std::uint64_t arguments() const override { return 0; }
  std::uint64_t load(std::uint64_t address, unsigned bytes) override {
    std::uint64_t value = 0;
    read(address, &value, bytes);
    return value;
  }
  void store(std::uint64_t address, unsigned bytes, std::uint64_t value) override {
    write(address, &value, bytes);
    ++stores;
  }
  void read(std::uint64_t address, void* data, Bytes length) override {
    std::memcpy(data, &memory_.at(address + length - 1) - (length - 1), length);
  }
  void write(std::uint64_t address, const void* data, Bytes length) override {
    std::memcpy(&memory_.at(address + length - 1) - (length - 1), data, length);
  }
  std::uint64_t fetch_add(std::uint64_t, unsigned, std::uint64_t) override { return 0; }
  std::uint64_t compare_exchange(std::uint64_t, unsigned, std::uint64_t, std::uint64_t) override {
    return 0;
  }
  void invalidate(std::uint64_t, Bytes) override {}
  void barrier() override {}
  unsigned core_windows() const override { return 0; }
  std::uint32_t load_register(unsigned, std::uint32_t) override { return 0; }
  void store_register(unsigned, std::uint32_t, std::uint32_t) override {}
  std::uint64_t system_counter() override { return 0; }
  std::uint64_t counter_hz() const override { return 1; }
  void compute(unsigned) override {}
  bool poll_again(std::uint64_t) override { return false; }
  void phase(platform::AicpuPhase, std::uint32_t) override {}

  unsigned stores = 0;

 private:
  std::vector<std::byte>& memory_;
  unsigned thread_, threads_;
};

constexpr std::uint64_t kA = 0x200, kB = 0x400, kResult = 0x600;

struct Program {
  std::vector<std::byte> memory = std::vector<std::byte>(0x1000);
  TensorWork work;

  Program(TensorOperation operation, TensorNumber operand, TensorNumber into) {
    work.a = kA;
    work.b = kB;
    work.result = kResult;
    work.operation = static_cast<std::uint8_t>(operation);
    work.operand = static_cast<std::uint8_t>(operand);
    work.into = static_cast<std::uint8_t>(into);
  }
  template <class T>
  void put(std::uint64_t at, const std::vector<T>& values) {
    std::memcpy(memory.data() + at, values.data(), values.size() * sizeof(T));
  }
  void flat(std::uint64_t count) {
    work.axes = 1;
    work.sides[0] = count;
    work.a_strides[0] = work.b_strides[0] = 1;
  }
  int run(unsigned threads = 1) {
    std::memcpy(memory.data(), &work, sizeof work);
    int result = 0;
    for (unsigned i = 0; i < threads; ++i) {
      FlatPort port(memory, i, threads);
      result |= npu_aicpu_main(port);
    }
    return result;
  }
  template <class T>
  std::vector<T> results(std::size_t count) const {
    std::vector<T> found(count);
    std::memcpy(found.data(), memory.data() + kResult, count * sizeof(T));
    return found;
  }
};

TEST(Tensors, TheLargestOfNumbersWithoutASign) {
  Program program(TensorOperation::kMaximum, TensorNumber::kUint64, TensorNumber::kUint64);
  program.put<std::uint64_t>(kA, {1, ~std::uint64_t{0}, 5});
  program.put<std::uint64_t>(kB, {2, 3, 5});
  program.flat(3);
  EXPECT_EQ(program.run(), 0);
  EXPECT_EQ(program.results<std::uint64_t>(3),
            (std::vector<std::uint64_t>{2, ~std::uint64_t{0}, 5}));
}

TEST(Tensors, WhatIsNoNumberStaysSo) {
  Program program(TensorOperation::kMinimum, TensorNumber::kFloat64, TensorNumber::kFloat64);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  program.put<double>(kA, {nan, 1, -0.5});
  program.put<double>(kB, {1, nan, -0.25});
  program.flat(3);
  EXPECT_EQ(program.run(), 0);
  const auto found = program.results<double>(3);
  EXPECT_TRUE(found[0] != found[0]);
  EXPECT_TRUE(found[1] != found[1]);
  EXPECT_EQ(found[2], -0.5);
}

TEST(Tensors, IntegersCountAroundAndAreDividedTowards0) {
  Program add(TensorOperation::kAdd, TensorNumber::kInt16, TensorNumber::kInt16);
  add.put<std::int16_t>(kA, {32767, -1});
  add.put<std::int16_t>(kB, {1, -32768});
  add.flat(2);
  EXPECT_EQ(add.run(), 0);
  EXPECT_EQ(add.results<std::int16_t>(2), (std::vector<std::int16_t>{-32768, 32767}));

  Program divide(TensorOperation::kDivide, TensorNumber::kInt64, TensorNumber::kInt64);
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
  divide.put<std::int64_t>(kA, {-7, 7, kLow});
  divide.put<std::int64_t>(kB, {2, 0, -1});
  divide.flat(3);
  EXPECT_EQ(divide.run(), 0);
  EXPECT_EQ(divide.results<std::int64_t>(3), (std::vector<std::int64_t>{-3, 0, kLow}));
}

TEST(Tensors, SidesAreRepeatedAndPartsMakeTheWhole) {
  for (const unsigned threads : {1U, 3U, 7U, 40U}) {
    Program program(TensorOperation::kGreater, TensorNumber::kUint16, TensorNumber::kBool);
    program.put<std::uint16_t>(kA, {10, 20, 30, 40, 50, 60});  // 2 x 3
    program.put<std::uint16_t>(kB, {25, 55});                  // 2 x 1
    program.work.axes = 2;
    program.work.sides = {2, 3};
    program.work.a_strides = {3, 1};
    program.work.b_strides = {1, 0};
    EXPECT_EQ(program.run(threads), 0);
    EXPECT_EQ(program.results<std::uint8_t>(7), (std::vector<std::uint8_t>{0, 0, 1, 0, 0, 1, 0}));
  }
}

TEST(Tensors, ANumberHasNoAxes) {
  Program program(TensorOperation::kCast, TensorNumber::kFloat64, TensorNumber::kFloat32);
  program.put<double>(kA, {0.1});
  EXPECT_EQ(program.run(4), 0);
  EXPECT_EQ(program.results<float>(1).front(), 0.1F);
}

TEST(Tensors, WhatThereIsNotIsRefused) {
  for (auto TensorWork::*field :
       {&TensorWork::operation, &TensorWork::operand, &TensorWork::into, &TensorWork::axes}) {
    Program program(TensorOperation::kAdd, TensorNumber::kInt8, TensorNumber::kInt8);
    program.work.*field = 200;
    EXPECT_EQ(program.run(), 1);
  }
}

// Of signs as C and as Python have them.
TEST(Tensors, RemaindersHaveTheSignOfEitherNumber) {
  const std::vector<std::int32_t> a{7, -7, 7, -7, 5, std::numeric_limits<std::int32_t>::min()};
  const std::vector<std::int32_t> b{3, 3, -3, -3, 0, -1};
  const auto results = [&](TensorOperation operation) {
    Program program(operation, TensorNumber::kInt32, TensorNumber::kInt32);
    program.put(kA, a);
    program.put(kB, b);
    program.flat(a.size());
    EXPECT_EQ(program.run(), 0);
    return program.results<std::int32_t>(a.size());
  };
  EXPECT_EQ(results(TensorOperation::kModulo), (std::vector<std::int32_t>{1, 2, -2, -1, 0, 0}));
  EXPECT_EQ(results(TensorOperation::kRemainder), (std::vector<std::int32_t>{1, -1, 1, -1, 0, 0}));
}

TEST(Tensors, RemaindersOfRealsDoTheSame) {
  Program program(TensorOperation::kModulo, TensorNumber::kFloat64, TensorNumber::kFloat64);
  program.put<double>(kA, {5.5, -5.5, 5.5});
  program.put<double>(kB, {2, 2, -2});
  program.flat(3);
  EXPECT_EQ(program.run(), 0);
  EXPECT_EQ(program.results<double>(3), (std::vector<double>{1.5, 0.5, -0.5}));
}

TEST(Tensors, PowersOfIntegersCountAround) {
  Program program(TensorOperation::kPower, TensorNumber::kInt64, TensorNumber::kInt64);
  program.put<std::int64_t>(kA, {3, 2, -2, 1, -1, -1, 7, 0});
  program.put<std::int64_t>(kB, {4, 64, 3, -5, -3, -4, -1, 0});
  program.flat(8);
  EXPECT_EQ(program.run(), 0);
  EXPECT_EQ(program.results<std::int64_t>(8),
            (std::vector<std::int64_t>{81, 0, -8, 1, -1, 1, 0, 1}));
}

TEST(Tensors, ShiftsByAllBitsLeaveNothing) {
  for (const auto operation : {TensorOperation::kShiftLeft, TensorOperation::kShiftRight}) {
    Program program(operation, TensorNumber::kUint8, TensorNumber::kUint8);
    program.put<std::uint8_t>(kA, {0x81, 0x81, 0x81});
    program.put<std::uint8_t>(kB, {1, 8, 200});
    program.flat(3);
    EXPECT_EQ(program.run(), 0);
    const bool left = operation == TensorOperation::kShiftLeft;
    const std::uint8_t once = left ? 0x02 : 0x40;
    EXPECT_EQ(program.results<std::uint8_t>(3), (std::vector<std::uint8_t>{once, 0, 0}));
  }
}

TEST(Tensors, FunctionsAreThoseOfReals) {
  for (const auto& [operation, expected] :
       {std::pair{TensorOperation::kSine, std::sin(0.75)},
        std::pair{TensorOperation::kArcTangent, std::atan(0.75)},
        std::pair{TensorOperation::kArcHyperbolicTangent, std::atanh(0.75)},
        std::pair{TensorOperation::kLogarithm, std::log(0.75)}}) {
    Program program(operation, TensorNumber::kFloat64, TensorNumber::kFloat64);
    program.put<double>(kA, {0.75});
    program.flat(1);
    EXPECT_EQ(program.run(), 0);
    EXPECT_DOUBLE_EQ(program.results<double>(1)[0], expected);
  }
  Program whole(TensorOperation::kSine, TensorNumber::kInt32, TensorNumber::kInt32);
  whole.flat(1);
  EXPECT_EQ(whole.run(), 1);
}

}  // namespace
}  // namespace npu::test
