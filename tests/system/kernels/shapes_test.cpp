// SPDX-License-Identifier: Apache-2.0
// Shipped kernels over shapes at random, 1 and primes among them: every element against the plain
// formula, and nothing changed around results. NPU_KERNEL_SHAPES=1000 for more of them.
#include <cmath>
#include <cstdlib>
#include <random>

#include "tests/bench/aicore/aicore_bench.hpp"
#include "tests/system/kernels/shipped_kernels.hpp"
#include "tests/system/operators/numbers.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kTaskWords = 0x30'0000;
constexpr unsigned char kUntouched = 0xA5;

class KernelShapes : public testing::Test {
 protected:
  static unsigned shapes() {
    const char* const wanted = std::getenv("NPU_KERNEL_SHAPES");
    return wanted == nullptr ? 40 : static_cast<unsigned>(std::atoi(wanted));
  }
  std::uint32_t one_of(std::initializer_list<std::uint32_t> values) {
    return *(values.begin() + dice_() % values.size());
  }
  std::uint32_t side() {
    const auto any = static_cast<std::uint32_t>(dice_() % 200 + 1);
    return one_of({1, 2, 7, 16, 31, 257, any, any, any, any, any, any, any, any});
  }
  DataType real() {
    const auto any = dice_() % 3;
    return any == 0 ? DataType::kFp16 : any == 1 ? DataType::kBf16 : DataType::kFp32;
  }
  // Small whole numbers: their products and sums are exact in fp32.
  std::vector<double> put_numbers(std::uint64_t at, DataType type, std::uint64_t count) {
    std::vector<double> numbers(count);
    std::vector<unsigned char> bytes(count * platform::bytes_of(type));
    for (std::uint64_t i = 0; i < count; ++i) {
      numbers[i] = static_cast<double>(dice_() % 9) - 4;
      put_element(bytes, i, type, numbers[i]);
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) bench_.memory.store(at + i, bytes[i]);
    return numbers;
  }
  void forget_result(std::uint64_t at, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < bytes + 64; ++i) bench_.memory.store(at + i, kUntouched);
  }
  std::vector<unsigned char> result(std::uint64_t at, std::uint64_t bytes) {
    std::vector<unsigned char> found(bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) {
      found[i] = bench_.memory.load<unsigned char>(at + i);
    }
    for (std::uint64_t i = bytes; i < bytes + 64; ++i) {
      EXPECT_EQ(bench_.memory.load<unsigned char>(at + i), kUntouched);
    }
    return found;
  }
  // All blocks of a launch, one after the other.
  void run(const char* kernel, const TaskWords& words) {
    constexpr SimTime kBlockSlot = 100'000'000 * kClock;
    bench_.upload(kernel, kOtherImage);
    for (std::size_t i = 0; i < words.size(); ++i) {
      bench_.memory.store(kTaskWords + 8 * i, words[i]);
    }
    const unsigned blocks = one_of({1, 1, 2, 3});
    for (unsigned block = 0; block < blocks; ++block) {
      bench_.at(++turns_ * kBlockSlot, [this, block, blocks] {
        bench_.launch_image(0, kOtherImage, kTaskWords, turns_, block, blocks);
      });
      bench_.run();
      ASSERT_TRUE(bench_.has_ended(0));
      ASSERT_EQ(bench_.ended(0).fault, FaultCode::kNone);
    }
  }

  AicoreBench bench_;
  SimTime turns_ = 0;
  std::mt19937_64 dice_{3};
};

TEST_F(KernelShapes, ProductsAreSumsOfProducts) {
  for (unsigned i = 0; i < shapes(); ++i) {
    const bool scores = i % 3 == 0, relu = i % 3 == 1;
    kernels::gemm::Problem p;
    p.a = kIn, p.b = kIn2, p.c = kOut;
    p.m = side(), p.n = side(), p.k = side();
    p.type = real();
    p.lda = p.k, p.ldb = scores ? p.k : p.n, p.ldc = p.n;
    p.to_type = DataType::kFp32;
    p.tiling = {one_of({16, 32, 128}), one_of({32, 64, 128}), one_of({32, 96, 256}), 32};
    SCOPED_TRACE(testing::Message() << p.m << " x " << p.n << " x " << p.k);
    const auto a = put_numbers(kIn, p.type, std::uint64_t{p.m} * p.k);
    const auto b = put_numbers(kIn2, p.type, std::uint64_t{p.k} * p.n);
    const std::uint64_t to = relu ? kOut2 : kOut, bytes = std::uint64_t{p.m} * p.n * 4;
    forget_result(to, bytes);
    const kernels::attention::Scores task{kIn, kIn2, kOut, p.m, p.n, p.k, p.type};
    const auto words = kernels::gemm::to_words(p);
    TaskWords all(words.begin(), words.end());
    if (relu) all.push_back(kOut2);
    if (scores) all = {kIn, kIn2, kOut, task.shape(), task.depth()};
    run(scores ? "attention_scores" : relu ? "matmul_relu" : "matmul", all);
    const auto found = result(to, bytes);
    for (std::uint32_t row = 0; row < p.m; ++row) {
      for (std::uint32_t column = 0; column < p.n; ++column) {
        double sum = 0;
        for (std::uint32_t k = 0; k < p.k; ++k) {
          sum += a[row * p.k + k] * b[scores ? column * p.k + k : k * p.n + column];
        }
        ASSERT_EQ(get_element(found, row * p.n + column, DataType::kFp32),
                  relu ? std::fmax(sum, 0) : sum)
            << row << ", " << column;
      }
    }
  }
}

double formula(kernels::vector::Operator op, double a, double b) {
  using kernels::vector::Operator;
  switch (op) {
    case Operator::kSigmoid:
      return 1 / (1 + std::exp(-a));
    case Operator::kGelu:
      return a / (1 + std::exp(-std::sqrt(8 / std::acos(-1.0)) * (a + 0.044715 * a * a * a)));
    case Operator::kMish:
      return a * std::tanh(std::log1p(std::exp(a)));
    case Operator::kExp:
      return std::exp(a / 2);
    case Operator::kMaximum:
      return std::fmax(a, b);
  }
  return 0;
}

TEST_F(KernelShapes, OperatorsAreTheirFormula) {
  for (unsigned i = 0; i < shapes(); ++i) {
    kernels::vector::OperatorWork work;
    work.to = kOut, work.a = kIn, work.b = kIn2;
    work.count = i % 4 == 0 ? side() : dice_() % 60'000 + 1;
    work.op = static_cast<kernels::vector::Operator>(i % kernels::vector::kOperators);
    const DataType type = real();
    work.type = type;
    work.scale = 0.5F;
    SCOPED_TRACE(testing::Message() << i % kernels::vector::kOperators << " of " << work.count);
    const auto a = put_numbers(kIn, type, work.count);
    const auto b = put_numbers(kIn2, type, work.count);
    const std::uint64_t bytes = work.count * platform::bytes_of(type);
    forget_result(kOut, bytes);
    const auto words = kernels::vector::to_words(work);
    run("operators", {words.begin(), words.end()});
    const auto found = result(kOut, bytes);
    for (std::uint64_t k = 0; k < work.count; ++k) {
      const double exact = formula(work.op, a[k], b[k]);
      ASSERT_TRUE(near_enough(type, get_element(found, k, type), exact, 2e-6 * std::fabs(exact)))
          << k << ": " << get_element(found, k, type) << ", exactly " << exact;
    }
  }
}

}  // namespace
}  // namespace npu::test
