// SPDX-License-Identifier: Apache-2.0
// Which parts of a page are fetched for those that were touched.
#include "driver/managed/page_parts.hpp"

#include <gtest/gtest.h>

namespace npu::driver {
namespace {

unsigned wanted(std::initializer_list<unsigned> there, unsigned touched, unsigned density = 51) {
  PageParts have, now;
  for (const auto leaf : there) {
    for (unsigned i = 0; i < 16; ++i) have.set(leaf * 16 + i);
  }
  now.set(touched);
  return static_cast<unsigned>((wanted_parts(now, have, density) & ~have).count());
}

TEST(WantedParts, AreTheLargestSubtreeThatIsDenseEnough) {
  EXPECT_EQ(wanted({}, 3), 16U) << "a leaf";
  EXPECT_EQ(wanted({}, 3, 0), 1U);
  EXPECT_EQ(wanted({0}, 16), 16U) << "both leaves of their subtree, half of the next";
  EXPECT_EQ(wanted({0, 1}, 32), 32U) << "3 of 4";
  EXPECT_EQ(wanted({0, 1}, 32, 75), 16U);
  EXPECT_EQ(wanted({0, 1, 2, 3}, 64), 64U) << "5 of 8";
  EXPECT_EQ(wanted({0, 1, 2, 3}, 5 * 16), 64U);
  EXPECT_EQ(wanted({0, 1, 2, 3}, 12 * 16), 16U);
  EXPECT_EQ(wanted({}, 511, 1), 512U) << "a leaf is 3 % of all";
}

}  // namespace
}  // namespace npu::driver
