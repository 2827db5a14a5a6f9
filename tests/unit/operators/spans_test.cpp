// SPDX-License-Identifier: Apache-2.0
// Stretches of time, against time step by step.
#include "kernels/operators/launcher/spans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace npu::operators {
namespace {

constexpr int kSteps = 64;
using Steps = std::array<unsigned, kSteps>;  // in how many spans each lies

KernelSpan span(int begin, int end) {
  return {Instant(Picoseconds(begin)), Instant(Picoseconds(end))};
}

Steps steps_of(const Spans& spans) {
  Steps steps{};
  for (const auto& each : spans.all()) {
    for (auto i = each.begin.since_power_up().count(); i < each.end.since_power_up().count(); ++i) {
      ++steps.at(static_cast<std::size_t>(i));
    }
  }
  return steps;
}

class RandomSpans : public ::testing::TestWithParam<unsigned> {
 protected:
  Spans make() {
    Spans spans;
    for (auto left = at(12); left > 0; --left) {
      const int begin = at(kSteps);
      spans.add(span(begin, std::min(begin + at(12), kSteps)));
    }
    return spans;
  }

 private:
  int at(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
  std::mt19937 random_{GetParam()};
};

TEST_P(RandomSpans, AreJoinedAndLeftOutStepByStep) {
  const Spans all = make(), taken = make();
  const auto in_all = steps_of(all), in_taken = steps_of(taken);
  const auto joined = steps_of(all.joined()), left = steps_of(all.without(taken));
  std::int64_t sum = 0, of_joined = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    EXPECT_EQ(joined.at(i), in_all.at(i) > 0 ? 1U : 0U) << i;
    EXPECT_EQ(left.at(i), in_all.at(i) > 0 && in_taken.at(i) == 0 ? 1U : 0U) << i;
    sum += in_all.at(i), of_joined += joined.at(i);
  }
  EXPECT_EQ(all.time(), Picoseconds(sum));
  EXPECT_EQ(all.joined().time(), Picoseconds(of_joined));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSpans, ::testing::Range(0U, 200U));

TEST(Spans, OfALongRunAreASum) {
  Spans spans(span(0, 10));
  spans.keep_time_only();
  spans.add(Spans(span(20, 25)));
  EXPECT_EQ(spans.time(), Picoseconds(15));
  EXPECT_EQ(spans.all().size(), 1U);
}

}  // namespace
}  // namespace npu::operators
