// SPDX-License-Identifier: Apache-2.0
// Stores that reduce: what memory has afterwards, and which ones a core cannot execute. No
// simulation.
#include <algorithm>
#include <cstring>
#include <vector>

#include "model/aicore/global_stores.hpp"
#include "model/aicore/store_checks.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using abi::ElementType;
using abi::ReduceOperation;
using platform::StoreReduction;

template <class T>
class Elements : public ::testing::Test {};
using Integers = ::testing::Types<std::int8_t, std::int16_t, std::int32_t>;
TYPED_TEST_SUITE(Elements, Integers);

template <class T>
constexpr ElementType kElement = sizeof(T) == 1   ? ElementType::kInt8
                                 : sizeof(T) == 2 ? ElementType::kInt16
                                                  : ElementType::kInt32;

// Stores `stored` to where `there` is; what is there then.
template <class T>
std::vector<T> after(const StoreReduction& reduction, std::vector<T> there,
                     const std::vector<T>& stored) {
  model::MemoryWatch watch;
  PlainMemory memory{watch};
  const Bytes bytes = there.size() * sizeof(T);
  memory.put(kData, there.data(), bytes);
  const model::GlobalStores stores(memory, 0, reduction);
  const auto* const from = reinterpret_cast<const unsigned char*>(stored.data());
  EXPECT_FALSE(stores.write(kData, from, bytes).failed());
  EXPECT_EQ(memory.read(0, kData, there.data(), bytes), model::Completion::kSuccess);
  return there;
}

TYPED_TEST(Elements, OfIntegersWrap) {
  using T = TypeParam;
  constexpr T kMost = std::numeric_limits<T>::max(), kLeast = std::numeric_limits<T>::min();
  const std::vector<T> a{1, -7, kMost, kLeast}, b{2, 5, 1, -1};
  const auto with = [&](ReduceOperation operation) {
    return after<T>({operation, kElement<T>}, a, b);
  };
  EXPECT_EQ(with(ReduceOperation::kNone), b);
  EXPECT_EQ(with(ReduceOperation::kSum), (std::vector<T>{3, -2, kLeast, kMost}));
  EXPECT_EQ(with(ReduceOperation::kMax), (std::vector<T>{2, 5, kMost, -1}));
  EXPECT_EQ(with(ReduceOperation::kMin), (std::vector<T>{1, -7, 1, kLeast}));
}

TEST(AicoreStoreReduction, AddsReals) {
  const StoreReduction sum{ReduceOperation::kSum, ElementType::kFp32};
  EXPECT_EQ(after<float>(sum, {1.5F, -2}, {0.25F, 5}), (std::vector<float>{1.75F, 3}));
}

TEST(AicoreStoreReduction, SaysWhereNothingCanBeWritten) {
  model::MemoryWatch watch;
  PlainMemory memory{watch};
  const model::GlobalStores stores(memory, 0, {ReduceOperation::kSum, ElementType::kFp32});
  const unsigned char bytes[4] = {};
  const auto fault = stores.write(1ULL << 60, bytes, 4);
  EXPECT_TRUE(fault.failed());
  EXPECT_TRUE(fault.write);
  EXPECT_EQ(fault.address, 1ULL << 60);
}

TEST(AicoreStoreReduction, IsOfWholeElements) {
  const StoreReduction none{}, words{ReduceOperation::kMax, ElementType::kInt32};
  platform::CopyOut copy;
  copy.to = kData + 2, copy.rows = 2, copy.row_bytes = 6, copy.to_pitch = 10;
  EXPECT_EQ(model::check_reduced(copy, none).code, FaultCode::kNone);
  EXPECT_EQ(model::check_reduced(copy, words).field, abi::FaultyField::kRowBytes);
  copy.row_bytes = 8;
  EXPECT_EQ(model::check_reduced(copy, words).field, abi::FaultyField::kTo);
  copy.to = kData;
  EXPECT_EQ(model::check_reduced(copy, words).field, abi::FaultyField::kTo) << "the second row";
  copy.rows = 1;
  EXPECT_EQ(model::check_reduced(copy, words).code, FaultCode::kNone);
}

TEST(AicoreStoreReduction, OfAFixpipeIsOfItsType) {
  const StoreReduction sum{ReduceOperation::kSum, ElementType::kFp16};
  platform::Fixpipe fixpipe;
  fixpipe.to = kData, fixpipe.m = 2, fixpipe.to_pitch = 32, fixpipe.to_type = DataType::kFp32;
  EXPECT_EQ(model::check_reduced(fixpipe, sum).field, abi::FaultyField::kKind);
  fixpipe.to_type = DataType::kFp16;
  EXPECT_EQ(model::check_reduced(fixpipe, sum).code, FaultCode::kNone);
  fixpipe.to_pitch = 33;
  EXPECT_EQ(model::check_reduced(fixpipe, sum).field, abi::FaultyField::kTo);
}

// The register's value when the copy is issued counts, and a block begins without one.
TEST(AicoreStoreReduction, HoldsForWhatIsIssuedBehindIt) {
  AicoreBench bench;
  const auto stores = [](AicorePort& port, std::uint32_t to) {
    platform::CopyOut copy;
    copy.to = kData + to;
    copy.from = {LocalBuffer::kUb, 0};
    copy.row_bytes = 32;
    port.issue(copy);
  };
  for (int launch = 0; launch < 2; ++launch) {
    const auto end = bench.run_one([&](AicorePort& port) {
      port.store_ub(0, 7);
      stores(port, 0);
      port.pipe_barrier(Pipe::kAll);
      port.set_store_reduction({ReduceOperation::kSum, ElementType::kInt32});
      stores(port, 0);
      stores(port, 64);
      port.set_store_reduction({});
      stores(port, 128);
      port.pipe_barrier(Pipe::kAll);
      port.set_store_reduction({ReduceOperation::kSum, ElementType::kInt32});
      return 0;
    });
    EXPECT_EQ(end.fault, FaultCode::kNone);
    EXPECT_EQ(bench.memory.load<std::uint32_t>(kData), 14U);
    EXPECT_EQ(bench.memory.load<std::uint32_t>(kData + 64), 7U * (launch + 1));
    EXPECT_EQ(bench.memory.load<std::uint32_t>(kData + 128), 7U);
  }
}

TEST(AicoreStoreReduction, IsOfATypeThatMemoryComputes) {
  AicoreBench bench;
  const auto end = bench.run_one([&](AicorePort& port) {
    port.set_store_reduction({ReduceOperation::kProduct, ElementType::kFp32});
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kInstruction);
}

}  // namespace
}  // namespace npu::test
