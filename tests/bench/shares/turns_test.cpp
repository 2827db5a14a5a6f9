// SPDX-License-Identifier: Apache-2.0
// Members of a group that take turns on its cores.
#include <gtest/gtest.h>

#include "model/command/core_turns.hpp"

namespace npu::test {
namespace {

using model::CoreTurns;
using model::GroupMember;
using model::sim_now;
using model::SimTime;

constexpr SimTime kBlock = 1'000'000;

GroupMember member(std::uint32_t token, std::uint32_t maximum) {
  return {0, token, maximum, false, 0, 6};
}

// Blocks of each of two that always want one more.
std::pair<unsigned, unsigned> run(CoreTurns& turns, unsigned blocks) {
  unsigned count[2] = {};
  for (unsigned i = 0; i < blocks; ++i) {
    bool tie = true;
    const bool first = turns.before(0, 1, tie) || (tie && i % 2 == 0);
    const unsigned who = first ? 0 : 1;
    turns.started(who);
    turns.ended(who, kBlock);
    ++count[who];
  }
  return {count[0], count[1]};
}

TEST(CoreTurns, TokensDivideTheTime) {
  CoreTurns turns(3);
  turns.set(0, member(3, 4));
  turns.set(1, member(1, 4));
  const auto [first, second] = run(turns, 400);
  EXPECT_NEAR(first, 300, 2);
  EXPECT_NEAR(second, 100, 2);
}

TEST(CoreTurns, WhoOwnsItsCoresIsBeforeNobody) {
  CoreTurns turns(2);
  turns.set(0, member(1, 1));
  bool tie = false;
  EXPECT_FALSE(turns.before(0, 1, tie));
  EXPECT_TRUE(tie);
  EXPECT_EQ(turns.may_start(1), sim_now());
}

TEST(CoreTurns, AMemberAtItsMaximumWaitsThoughItIsAlone) {
  CoreTurns turns(2);
  turns.set(0, member(1, 1));
  turns.set(1, member(1, 1));
  turns.started(0);
  turns.ended(0, kBlock);
  EXPECT_GT(turns.may_start(0), sim_now());
  turns.set(1, {});
  EXPECT_EQ(turns.may_start(0), sim_now()) << "all tokens are its own";
}

TEST(CoreTurns, AVipComesFirst) {
  CoreTurns turns(2);
  auto vip = member(1, 2);
  vip.vip = true;
  turns.set(0, member(100, 200));
  turns.set(1, vip);
  bool tie = true;
  EXPECT_FALSE(turns.before(0, 1, tie));
  EXPECT_FALSE(tie);
}

}  // namespace
}  // namespace npu::test
