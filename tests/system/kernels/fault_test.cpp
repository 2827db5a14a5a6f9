// SPDX-License-Identifier: Apache-2.0
// Every kernel that npusim carries, ended at many instants of its run: no simulator ends with it,
// and the core runs the kernel anew from begin to end. NPU_FAULT_INSTANTS=1000 for more of them.
#include <cstdlib>

#include "tests/bench/aicore/aicore_bench.hpp"
#include "workloads/kernels/attention/problem.hpp"
#include "workloads/kernels/gemm/problem.hpp"
#include "workloads/kernels/vector/operators.hpp"
#include "workloads/kernels/vector/words.hpp"

namespace npu::test {
namespace {

using platform::DataType;

constexpr std::uint64_t kTaskAt = 0x30'0000;
constexpr std::uint64_t kIn = 0x40'0000, kIn2 = 0x80'0000, kOut = 0xC0'0000, kOut2 = 0x100'0000;
constexpr SimTime kSlot = 10'000'000 * kClock;  // longer than a kernel and all its accesses take

using TaskWords = std::vector<std::uint64_t>;

TaskWords product_words(bool fused) {
  constexpr std::uint32_t kSide = 150;  // several tiles, none of them whole
  kernels::gemm::Problem p;
  p.a = kIn, p.b = kIn2, p.c = kOut;
  p.m = p.n = p.k = p.lda = p.ldb = p.ldc = kSide;
  p.type = p.to_type = DataType::kFp32;
  p.l1 = {64, 64, 64}, p.l0 = {64, 64, 32};
  const auto words = kernels::gemm::to_words(p);
  TaskWords all(words.word, words.word + kernels::gemm::kWords);
  if (fused) all.push_back(kOut2);
  return all;
}
TaskWords elementwise_words() {
  kernels::vector::Elementwise work;
  work.to = kOut, work.a = kIn, work.b = kIn2;
  work.count = 100'000;
  const auto words = kernels::vector::to_words(work);
  return {words.begin(), words.end()};
}
TaskWords operator_words() {
  kernels::vector::OperatorWork work;
  work.to = kOut, work.a = kIn, work.b = kIn2;
  work.count = 50'000;
  work.op = kernels::vector::Operator::kGelu;
  const auto words = kernels::vector::to_words(work);
  return {words.begin(), words.end()};
}
TaskWords scores_words() {
  const kernels::attention::Scores work{kIn, kIn2, kOut, 64, 600, 64, DataType::kFp32};
  return {kIn, kIn2, kOut, work.shape(), work.depth()};
}
TaskWords softmax_words() {
  const kernels::attention::Softmax work{kIn, kIn2, kOut, 2000, 64, DataType::kFp32, 1};
  return {kIn, kIn2, kOut, work.shape(), static_cast<std::uint64_t>(work.type), work.scale_bits()};
}
TaskWords update_words() {
  const kernels::attention::Update work{kIn, kIn2, kOut, kOut2, 64, 512, false, false};
  return {kIn, kIn2, kOut, kOut2, work.shape(), work.place()};
}

struct Shipped {
  const char* name;
  TaskWords words;
  friend std::ostream& operator<<(std::ostream& out, const Shipped& kernel) {
    return out << kernel.name;
  }
};

class ShippedKernel : public testing::TestWithParam<Shipped> {
 protected:
  static unsigned instants() {
    const char* const wanted = std::getenv("NPU_FAULT_INSTANTS");
    return wanted == nullptr ? 30 : static_cast<unsigned>(std::atoi(wanted));
  }
  ShippedKernel() {
    const auto& words = GetParam().words;
    bench_.upload(GetParam().name, kOtherImage);
    for (std::size_t i = 0; i < words.size(); ++i) bench_.memory.store(kTaskAt + 8 * i, words[i]);
  }
  // The kernel in a slot of time of its own, with `disturb` `after` its begin; how it ended.
  AicoreBench::Ended run(SimTime after, const std::function<void()>& disturb) {
    begin_ = ++slots_ * kSlot;
    bench_.at(begin_, [this] { bench_.launch_image(0, kOtherImage, kTaskAt, slots_); });
    bench_.at(begin_ + after, disturb);
    bench_.run();
    return bench_.has_ended(0) ? bench_.ended(0) : AicoreBench::Ended{};
  }
  void expect_whole() {
    const auto end = run(1, [] {});
    ASSERT_GT(end.when, begin_) << "the core is lost";
    ASSERT_EQ(end.fault, FaultCode::kNone);
  }
  // `disturb` at instants from the kernel's launch to its end, and what comes of it.
  void at_every_instant(const std::function<void()>& disturb,
                        const std::function<void(const AicoreBench::Ended&)>& look) {
    expect_whole();
    const SimTime duration = bench_.ended(0).when - begin_;
    for (unsigned i = 0; i <= instants(); ++i) {
      SCOPED_TRACE(i);
      look(run(duration * i / instants(), disturb));
      if (HasFatalFailure()) return;
    }
    expect_whole();
  }

  AicoreBench bench_;
  SimTime begin_ = 0;
  std::uint64_t slots_ = 0;
};

TEST_P(ShippedKernel, LeavesItsCoreWheneverItIsStopped) {
  at_every_instant([this] { bench_.cores.stop(slots_); },
                   [this](const AicoreBench::Ended& end) {
                     ASSERT_GT(end.when, begin_) << "its end was not reported";
                     EXPECT_EQ(end.fault, FaultCode::kNone);
                   });
}

TEST_P(ShippedKernel, LeavesItsCoreWheneverTheCardIsReset) {
  at_every_instant([this] { bench_.cores.function_reset(); },
                   [this](const AicoreBench::Ended&) { expect_whole(); });
}

TEST_P(ShippedKernel, IsAtFaultWheneverItsMemoryGoes) {
  const std::uint64_t all = bench_.memory.end;
  unsigned faults = 0;
  at_every_instant(
      [this] { bench_.memory.end = kIn; },
      [&](const AicoreBench::Ended& end) {
        bench_.memory.end = all;
        ASSERT_GT(end.when, begin_) << "its end was not reported";
        if (end.fault != FaultCode::kNone) ++faults;
        EXPECT_TRUE(end.fault == FaultCode::kNone || end.fault == FaultCode::kTranslation);
      });
  EXPECT_EQ(faults > 0, !GetParam().words.empty());
}

TEST_P(ShippedKernel, IsAtFaultWhicheverOfItsAddressesIsNone) {
  const auto& words = GetParam().words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool address = words[i] >= kIn && words[i] <= kOut2 && words[i] % kIn == 0;
    if (!address) continue;
    SCOPED_TRACE(i);
    for (const auto wrong : {~std::uint64_t{0} << 20, bench_.memory.end - 64}) {
      bench_.memory.store(kTaskAt + 8 * i, wrong);
      const auto end = run(1, [] {});
      ASSERT_GT(end.when, begin_) << "its end was not reported";
      EXPECT_EQ(end.fault == FaultCode::kNone, i == 2 && words.size() == 7) << "what it reads";
    }
    bench_.memory.store(kTaskAt + 8 * i, words[i]);
  }
  expect_whole();
}

INSTANTIATE_TEST_SUITE_P(All, ShippedKernel,
                         testing::Values(Shipped{"empty", {}},
                                         Shipped{"matmul", product_words(false)},
                                         Shipped{"matmul_relu", product_words(true)},
                                         Shipped{"elementwise", elementwise_words()},
                                         Shipped{"operators", operator_words()},
                                         Shipped{"attention_scores", scores_words()},
                                         Shipped{"attention_softmax", softmax_words()},
                                         Shipped{"attention_update", update_words()}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace npu::test
