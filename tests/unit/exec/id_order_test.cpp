// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/host/id_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace npu::exec {
namespace {

TEST(IdOrder, GoesOnFromTheLowestAfterTheHighest) {
  constexpr pid_t kFirst = 32'766, kCount = 32'768;
  std::vector<pid_t> ids{300, 32'767, 301, kFirst, 20'000};
  std::sort(ids.begin(), ids.end(), IdOrder(kFirst, kCount));
  EXPECT_EQ(ids, (std::vector<pid_t>{kFirst, 32'767, 300, 301, 20'000}));
}

TEST(IdOrder, KnowsHowManyThereAre) {
  const IdOrder order(2);
  EXPECT_TRUE(order(2, 3));
  EXPECT_TRUE(order(32'767, 1));
}

}  // namespace
}  // namespace npu::exec
