// SPDX-License-Identifier: Apache-2.0
// The steps of attention on one core, and the fused multiplication.
#include "kernels/device/shipped/attention.hpp"

#include <cmath>

#include "kernels/device/shipped/matmul.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using kernels::attention::Scores;
using kernels::attention::Softmax;
using kernels::attention::Update;

constexpr std::uint64_t kWordsAt = 0x30'0000;
constexpr std::uint64_t kA = 0x40'0000, kB = 0x80'0000, kC = 0xC0'0000, kD = 0x100'0000;

class KernelBench : public AicoreBench {
 public:
  using AicoreBench::AicoreBench;

  void start(const std::string& program, const std::vector<std::uint64_t>& words) {
    upload(program, kOtherImage);
    for (std::size_t i = 0; i < words.size(); ++i) memory.store(kWordsAt + 8 * i, words[i]);
    at(0, [this] { launch_image(0, kOtherImage, kWordsAt); });
    run();
    ASSERT_TRUE(has_ended(0));
    EXPECT_EQ(ended(0).fault, FaultCode::kNone);
  }
  void put(std::uint64_t at, const std::vector<float>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) memory.store(at + 4 * i, values[i]);
  }
  float number(std::uint64_t address, std::uint64_t index) {
    return memory.load<float>(address + 4 * index);
  }
};

TEST(AttentionKernels, ScoresAreProductsWithTheTransposedKeys) {
  // Query r picks component r of every key: score (r, c) is key (c, r). 600 keys are several
  // pieces.
  constexpr std::uint32_t kRows = 3, kHead = 64, kCount = 600;
  KernelBench bench;
  std::vector<float> queries(kRows * kHead), keys(kCount * kHead);
  for (std::uint32_t r = 0; r < kRows; ++r) queries[r * kHead + r] = 1;
  for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<float>(i % 1021);
  bench.put(kA, queries);
  bench.put(kB, keys);
  const Scores work{kA, kB, kC, kRows, kCount, kHead, DataType::kFp32};
  bench.start("attention_scores", {kA, kB, kC, work.shape(), work.depth()});
  for (std::uint32_t r = 0; r < kRows; ++r) {
    for (std::uint32_t c = 0; c < kCount; ++c) {
      ASSERT_EQ(bench.number(kC, r * kCount + c), keys[c * kHead + r]) << r << ", " << c;
    }
  }
}

TEST(AttentionKernels, SoftmaxIsRelativeToTheRowsMaximum) {
  // Row r holds 0, 2 ln 2, 4 ln 2 ..., scaled by a half: weights are 2^-(n - 1), ..., 1/2, 1.
  constexpr std::uint32_t kRows = 5, kCount = 12;
  KernelBench bench;
  std::vector<float> scores;
  for (std::uint32_t i = 0; i < kRows * kCount; ++i) {
    const std::uint32_t place = i % kCount + i / kCount;  // column and row
    scores.push_back(static_cast<float>(2 * std::log(2.0) * place));
  }
  bench.put(kA, scores);
  Softmax work{kA, kB, kC, kRows, kCount, DataType::kFp32, 0.5F};
  bench.start("attention_softmax",
              {kA, kB, kC, work.shape(), static_cast<std::uint64_t>(work.type), work.scale_bits()});
  for (std::uint32_t r = 0; r < kRows; ++r) {
    EXPECT_NEAR(bench.number(kC, r), std::log(2.0) * (kCount - 1 + r), 1e-5);
    EXPECT_NEAR(bench.number(kC, kRows + r), 2 - std::ldexp(1, 1 - int{kCount}), 1e-5);
    for (std::uint32_t c = 0; c < kCount; ++c) {
      EXPECT_NEAR(bench.number(kB, r * kCount + c),
                  std::ldexp(1, static_cast<int>(c + 1) - int{kCount}), 1e-5);
    }
  }
}

TEST(AttentionKernels, ManyRowsGoThroughTheBufferInPieces) {
  // 2000 rows of 64 numbers are more than any UB holds; equal scores have equal weights.
  constexpr std::uint32_t kRows = 2000, kCount = 64;
  KernelBench bench;
  bench.put(kA, std::vector<float>(kRows * kCount, 3));
  Softmax work{kA, kB, kC, kRows, kCount, DataType::kFp32, 1};
  bench.start("attention_softmax",
              {kA, kB, kC, work.shape(), static_cast<std::uint64_t>(work.type), work.scale_bits()});
  for (std::uint32_t r = 0; r < kRows; ++r) {
    ASSERT_EQ(bench.number(kC, r), 3) << r;
    ASSERT_EQ(bench.number(kC, kRows + r), kCount) << r;
    ASSERT_EQ(bench.number(kB, r * kCount + r % kCount), 1) << r;
  }
}

class UpdateKernel : public testing::Test {
 protected:
  static constexpr std::uint32_t kRows = 3, kHead = 20;

  // Output 6 with maximum 1 and sum 2 so far; a block of 10 with maximum `block_max` and sum 5.
  void start(float block_max, bool first, bool last) {
    bench_.put(kA, std::vector<float>(kRows * kHead, 6));
    bench_.put(kB, {1, 1, 1, 2, 2, 2});
    bench_.put(kC, std::vector<float>(kRows * kHead, 10));
    bench_.put(kD, {block_max, block_max, block_max, 5, 5, 5});
    const Update work{kA, kB, kC, kD, kRows, kHead, first, last};
    bench_.start("attention_update", {kA, kB, kC, kD, work.shape(), work.place()});
  }
  void expect(double output, double maximum, double sum) {
    for (std::uint32_t i = 0; i < kRows * kHead; ++i)
      EXPECT_NEAR(bench_.number(kA, i), output, 1e-5);
    for (std::uint32_t r = 0; r < kRows; ++r) {
      EXPECT_NEAR(bench_.number(kB, r), maximum, 1e-6);
      EXPECT_NEAR(bench_.number(kB, kRows + r), sum, 1e-5);
    }
  }
  KernelBench bench_;
};

TEST_F(UpdateKernel, TheFirstBlockIsTheOutput) {
  start(4, true, false);
  expect(10, 4, 5);
}

TEST_F(UpdateKernel, ALargerMaximumRescalesWhatWasThere) {
  start(1 + static_cast<float>(std::log(2.0)), false, false);
  expect(6 / 2.0 + 10, 1 + std::log(2.0), 2 / 2.0 + 5);
}

TEST_F(UpdateKernel, ASmallerMaximumRescalesTheBlock) {
  start(1 - static_cast<float>(std::log(2.0)), false, false);
  expect(6 + 10 / 2.0, 1, 2 + 5 / 2.0);
}

TEST_F(UpdateKernel, TheLastBlockDividesByTheSum) {
  start(1, false, true);
  expect(16.0 / 7, 1, 7);
}

TEST_F(UpdateKernel, AnOnlyBlockIsFirstAndLast) {
  start(1, true, true);
  expect(2, 1, 5);
}

TEST(FusedKernels, NegativeSumsBecomeZeroOnACoupledCore) {
  constexpr std::uint32_t kSide = 32;
  KernelBench bench;
  std::vector<float> a(kSide * kSide), b(kSide * kSide);
  for (std::uint32_t i = 0; i < kSide; ++i) {
    a[i * kSide + i] = i % 2 == 0 ? 1 : -1;
    for (std::uint32_t j = 0; j < kSide; ++j) b[i * kSide + j] = static_cast<float>(i + j + 1);
  }
  bench.put(kA, a);
  bench.put(kB, b);
  kernels::gemm::Problem p;
  p.a = kA, p.b = kB, p.c = kC;
  p.m = p.n = p.k = p.lda = p.ldb = p.ldc = kSide;
  p.type = p.to_type = DataType::kFp32;
  p.tiling = kernels::gemm::usual_tiling(p.type);
  const auto words = kernels::gemm::to_words(p);
  std::vector<std::uint64_t> all(words.begin(), words.end());
  all.push_back(kD);
  bench.start("matmul_relu", all);
  for (std::uint32_t i = 0; i < kSide; ++i) {
    const float expected = i % 2 == 0 ? static_cast<float>(i + 5 + 1) : 0;
    EXPECT_EQ(bench.number(kD, i * kSide + 5), expected) << i;
  }
}

}  // namespace
}  // namespace npu::test
