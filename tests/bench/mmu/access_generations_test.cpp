// SPDX-License-Identifier: Apache-2.0
// Which accesses an invalidation waits for. No simulation.
#include <gtest/gtest.h>

#include "model/mmu/access_generations.hpp"

namespace npu::test {
namespace {

using model::AccessGenerations;
using model::space_of;

constexpr unsigned kFunctions = 2;
const model::SpaceId kOwn = space_of(0, 3), kOther = space_of(0, 4), kForeign = space_of(1, 3);

struct Drain : AccessGenerations::Waiter {
  Drain(AccessGenerations& accesses, unsigned number) : all(accesses), of(number) {
    all.add(*this);
  }
  unsigned function() const override { return of; }
  void finish_if_drained() override {
    if (!all.drained(of)) return;
    all.remove(*this);
    finished = true;
  }
  AccessGenerations& all;
  const unsigned of;
  bool finished = false;
};

TEST(AccessGenerations, OnlyAccessesFromBeforeAreWaitedFor) {
  AccessGenerations accesses(kFunctions * abi::kVmids);
  const auto before = accesses.begin(kOwn);
  accesses.open(model::all_of_spaces(kOwn, 1));
  const auto behind = accesses.begin(kOwn);
  EXPECT_NE(before, behind);
  EXPECT_FALSE(accesses.drained(0));
  accesses.end(kOwn, before);
  EXPECT_TRUE(accesses.drained(0));
  accesses.end(kOwn, behind);
  EXPECT_TRUE(accesses.drained(0));
}

TEST(AccessGenerations, SpacesOutsideTheRangeAreNotWaitedFor) {
  AccessGenerations accesses(kFunctions * abi::kVmids);
  accesses.begin(kOther);
  accesses.begin(kForeign);
  accesses.open(model::all_of_spaces(kOwn, 1));
  EXPECT_TRUE(accesses.drained(0));
  EXPECT_TRUE(accesses.drained(1));
}

TEST(AccessGenerations, AWaiterHearsOfItsFunctionUntilItIsOver) {
  AccessGenerations accesses(kFunctions * abi::kVmids);
  const auto own = accesses.begin(kOwn);
  const auto foreign = accesses.begin(kForeign);
  accesses.open(model::all_of_function(0));
  Drain drain(accesses, 0);
  accesses.end(kForeign, foreign);
  EXPECT_FALSE(drain.finished);
  accesses.end(kOwn, own);
  EXPECT_TRUE(drain.finished);
}

TEST(AccessGenerations, KnowsTheSpacesThatThereAre) {
  const AccessGenerations accesses(kFunctions * abi::kVmids);
  EXPECT_TRUE(accesses.has(kForeign));
  EXPECT_FALSE(accesses.has(space_of(kFunctions, 0)));
}

}  // namespace
}  // namespace npu::test
