// SPDX-License-Identifier: Apache-2.0
// Kernels whose argument words are anything: each ends, with an error unless the words can be, and
// leaves a core that runs the next one. NPU_GARBAGE_TASKS=10000 for more of them.
#include <cstdlib>
#include <random>

#include "tests/bench/aicore/aicore_bench.hpp"
#include "tests/system/kernels/shipped_kernels.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kGarbageAt = 0x30'0000;
constexpr SimTime kTurn = 2'000'000 * kClock, kTimeout = 1'000'000 * kClock;

class ArgumentWords : public testing::TestWithParam<Shipped> {
 protected:
  static unsigned tasks() {
    const char* const wanted = std::getenv("NPU_GARBAGE_TASKS");
    return wanted == nullptr ? 60 : static_cast<unsigned>(std::atoi(wanted));
  }
  ArgumentWords() {
    bench_.memory.end = 0x200'0000;  // who goes on for long comes to its end
  }
  AicoreBench::Ended run(const TaskWords& words) {
    bench_.upload(GetParam().name, kOtherImage);  // whoever ran before may have written there
    for (std::size_t i = 0; i < words.size(); ++i)
      bench_.memory.store(kGarbageAt + 8 * i, words[i]);
    begin_ = ++turns_ * kTurn;
    bench_.at(begin_, [this] { bench_.launch_image(0, kOtherImage, kGarbageAt, turns_); });
    // Words that can be may ask for a long run.
    bench_.at(begin_ + kTimeout, [this] { bench_.cores.stop(turns_); });
    bench_.run();
    return bench_.has_ended(0) ? bench_.ended(0) : AicoreBench::Ended{};
  }
  std::uint64_t garbage(std::uint64_t word) {
    switch (dice_() % 6) {
      case 0:
        return dice_();
      case 1:
        return dice_() % 16;
      case 2:
        return word ^ std::uint64_t{1} << dice_() % 64;
      case 3:
        return (word & 0xFFFF'FFFF) | dice_() % 16 << 32;
      case 4:
        return (word & ~std::uint64_t{0xFFFF'FFFF}) | (dice_() & 0xFFFF'FFFF);
      default:
        return dice_() % 2 == 0 ? 0 : ~std::uint64_t{0};
    }
  }

  AicoreBench bench_;
  SimTime begin_ = 0;
  std::uint64_t turns_ = 0;
  std::mt19937_64 dice_{1};
};

TEST_P(ArgumentWords, OfAnyKindEndInAnErrorOrAResult) {
  const TaskWords& good = GetParam().words;
  for (unsigned i = 0; i < tasks(); ++i) {
    SCOPED_TRACE(i);
    TaskWords words = good;
    for (auto& word : words) {
      if (i % 4 == 0 || dice_() % 4 == 0) word = garbage(word);
    }
    ASSERT_GT(run(words).when, begin_) << "its end was not reported";
  }
  const auto end = run(good);
  ASSERT_GT(end.when, begin_);
  EXPECT_EQ(end.fault, FaultCode::kNone);
}

INSTANTIATE_TEST_SUITE_P(All, ArgumentWords, testing::ValuesIn(shipped_kernels()),
                         [](const auto& each) { return std::string(each.param.name); });

struct BadWord {
  const char* kernel;
  std::size_t word;
  std::uint64_t value;
};
const BadWord kBadWords[] = {
    {"matmul", 6, 6},                       // type
    {"matmul", 6, 0x100},                   // another one in its lowest byte
    {"matmul", 6, std::uint64_t{6} << 32},  // result's type
    {"matmul", 7, 0},                       // tiles of nothing
    {"matmul", 8, 64},                      // pieces of nothing
    {"matmul_relu", 7, ~std::uint64_t{0}},  // tiles beyond all buffers
    {"elementwise", 4, 0xC8},               // type
    {"elementwise", 4, std::uint64_t{platform::kVectorOps} << 32},  // operation
    {"elementwise", 3, ~std::uint64_t{0}},                          // elements
    {"operators", 4, 6},                                            // type
    {"operators", 4, std::uint64_t{5} << 32},                       // operator
    {"operators", 5, std::uint64_t{platform::kTilings} << 32},      // tiling
    {"ready", 0, platform::kTilings},                               // tiling
    {"ready", 2, 16385},                                            // bytes
    {"attention_scores", 4, std::uint64_t{6} << 32},                // type
    {"attention_softmax", 4, 6},                                    // type
};

class ArgumentWordThatCannotBe : public testing::TestWithParam<BadWord> {};

TEST_P(ArgumentWordThatCannotBe, IsTheKernelsError) {
  for (const auto& kernel : shipped_kernels()) {
    if (std::string(kernel.name) != GetParam().kernel) continue;
    AicoreBench bench;
    bench.upload(kernel.name, kOtherImage);
    for (std::size_t i = 0; i < kernel.words.size(); ++i) {
      const bool bad = i == GetParam().word;
      bench.memory.store(kGarbageAt + 8 * i, bad ? GetParam().value : kernel.words[i]);
    }
    bench.at(kTurn, [&] { bench.launch_image(0, kOtherImage, kGarbageAt); });
    bench.run();
    ASSERT_TRUE(bench.has_ended(0));
    EXPECT_EQ(bench.ended(0).fault, FaultCode::kKernelResult);
    EXPECT_EQ(bench.ended(0).address, 2U) << "what it returned";
  }
}

INSTANTIATE_TEST_SUITE_P(All, ArgumentWordThatCannotBe, testing::ValuesIn(kBadWords),
                         [](const auto& each) {
                           return std::string(each.param.kernel) + "_" +
                                  std::to_string(each.param.word) + "_" +
                                  std::to_string(each.param.value);
                         });

}  // namespace
}  // namespace npu::test
