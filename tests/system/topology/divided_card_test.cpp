// SPDX-License-Identifier: Apache-2.0
// The driver, as it is, on each function of a card that is divided between two.
#include "tests/system/virtual/divided_card.hpp"
#include "tests/bench/functions/two_functions.hpp"

namespace npu::test {
namespace {

TEST(DividedCard, TheDriverTakesEachFunctionForACard) {
  TwoFunctions card;
  card.run([&](platform::Platform& host) {
    Tenant first(host, card.bdf(0)), second(host, card.bdf(1));
    EXPECT_EQ(first.device->info().hbm_size, card.chip().partition(0).usable);
    EXPECT_EQ(second.device->info().hbm_size, card.chip().partition(1).usable);
    EXPECT_EQ(first.memory.value, second.memory.value) << "nobody need know of the other";
    const auto a = first.submit_fill(0x1111);
    const auto b = second.submit_fill(0x2222);
    ASSERT_TRUE(first.wait(a) && second.wait(b));
    EXPECT_TRUE(first.holds(0x1111));
    EXPECT_TRUE(second.holds(0x2222));
  });
}

TEST(DividedCard, AFunctionThatGoesLeavesTheDriverOfTheOther) {
  TwoFunctions card;
  card.run([&](platform::Platform& host) {
    Tenant second(host, card.bdf(1));
    const auto filled = second.submit_fill(0x2222);
    for (int i = 0; i < 3; ++i) {
      const Tenant first(host, card.bdf(0));
      ASSERT_TRUE(host.reset_function(card.bdf(0)));
    }
    ASSERT_TRUE(second.wait(filled));
    EXPECT_TRUE(second.holds(0x2222));
  });
}

}  // namespace
}  // namespace npu::test
