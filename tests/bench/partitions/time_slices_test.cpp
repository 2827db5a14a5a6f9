// SPDX-License-Identifier: Apache-2.0
// Members of a group that take time slices on its cores.
#include <gtest/gtest.h>

#include "model/command/core_time_slices.hpp"

namespace npu::test {
namespace {

using model::CoreTimeSlices;
using model::GroupMember;
using model::sim_now;
using model::SimTime;

constexpr SimTime kBlock = 1'000'000;

GroupMember member(std::uint32_t token, std::uint32_t maximum) {
  return {0, token, maximum, false, 0, 6};
}

// Blocks of each of two that always want one more.
std::pair<unsigned, unsigned> run(CoreTimeSlices& time_slices, unsigned blocks) {
  unsigned count[2] = {};
  for (unsigned i = 0; i < blocks; ++i) {
    bool tie = true;
    const bool first = time_slices.before(0, 1, tie) || (tie && i % 2 == 0);
    const unsigned who = first ? 0 : 1;
    time_slices.started(who);
    time_slices.ended(who, kBlock);
    ++count[who];
  }
  return {count[0], count[1]};
}

TEST(CoreTimeSlices, TokensDivideTheTime) {
  CoreTimeSlices time_slices(3);
  time_slices.set(0, member(3, 4));
  time_slices.set(1, member(1, 4));
  const auto [first, second] = run(time_slices, 400);
  EXPECT_NEAR(first, 300, 2);
  EXPECT_NEAR(second, 100, 2);
}

TEST(CoreTimeSlices, WhoOwnsItsCoresIsBeforeNobody) {
  CoreTimeSlices time_slices(2);
  time_slices.set(0, member(1, 1));
  bool tie = false;
  EXPECT_FALSE(time_slices.before(0, 1, tie));
  EXPECT_TRUE(tie);
  EXPECT_EQ(time_slices.may_start(1), sim_now());
}

TEST(CoreTimeSlices, AMemberAtItsMaximumWaitsThoughItIsAlone) {
  CoreTimeSlices time_slices(2);
  time_slices.set(0, member(1, 1));
  time_slices.set(1, member(1, 1));
  time_slices.started(0);
  time_slices.ended(0, kBlock);
  EXPECT_GT(time_slices.may_start(0), sim_now());
  time_slices.set(1, {});
  EXPECT_EQ(time_slices.may_start(0), sim_now()) << "all tokens are its own";
}

TEST(CoreTimeSlices, AVipComesFirst) {
  CoreTimeSlices time_slices(2);
  auto vip = member(1, 2);
  vip.vip = true;
  time_slices.set(0, member(100, 200));
  time_slices.set(1, vip);
  bool tie = true;
  EXPECT_FALSE(time_slices.before(0, 1, tie));
  EXPECT_FALSE(tie);
}

}  // namespace
}  // namespace npu::test
