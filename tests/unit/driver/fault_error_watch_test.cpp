// SPDX-License-Identifier: Apache-2.0
// When fault errors are too many: a hundred more than at first, two seconds after that, once.
#include "driver/managed/fault_error_watch.hpp"

#include <gtest/gtest.h>

namespace npu::driver {
namespace {

constexpr Instant at_ms(std::int64_t ms) {
  return Instant(Picoseconds(ms * 1'000'000'000));
}

TEST(FaultErrorWatch, CountsFromTheFirstLookThatSeesAny) {
  FaultErrorWatch watch(100, 2'000_ms);
  EXPECT_FALSE(watch.look(0, at_ms(0)));
  EXPECT_FALSE(watch.counts());
  EXPECT_FALSE(watch.look(7, at_ms(10)));
  EXPECT_TRUE(watch.counts());
  EXPECT_FALSE(watch.look(107, at_ms(2'009))) << "too early";
  EXPECT_FALSE(watch.look(106, at_ms(2'010))) << "too few";
  EXPECT_TRUE(watch.look(107, at_ms(2'010)));
  EXPECT_FALSE(watch.look(1'000, at_ms(9'000))) << "once";
  EXPECT_FALSE(watch.counts());
}

TEST(FaultErrorWatch, ABurstAtOnceIsTheBase) {
  FaultErrorWatch watch(100, 2'000_ms);
  EXPECT_FALSE(watch.look(5'000, at_ms(10)));
  EXPECT_FALSE(watch.look(5'000, at_ms(10'000)));
  EXPECT_TRUE(watch.look(5'100, at_ms(10'010)));
}

TEST(FaultErrorWatch, FewerThanAtFirstBeginsAnew) {
  FaultErrorWatch watch(100, 2'000_ms);
  EXPECT_FALSE(watch.look(50, at_ms(10)));
  EXPECT_FALSE(watch.look(20, at_ms(1'000)));
  EXPECT_FALSE(watch.look(120, at_ms(2'500))) << "1.5 s after the new base";
  EXPECT_TRUE(watch.look(120, at_ms(3'000)));
}

}  // namespace
}  // namespace npu::driver
