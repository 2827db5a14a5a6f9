// SPDX-License-Identifier: Apache-2.0
// Which cores whose kernels may use.
#include "driver/queue/core_groups.hpp"

#include <algorithm>
#include <random>

#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using test::FailsWith;
using test::IsOk;
using test::must;

constexpr CoreGroups::Cores kCard{24, 2};  // 72 cores
constexpr CoreGroups::Cores kCoupled{32, 0};

ComputeGroupOptions of(unsigned clusters) {
  ComputeGroupOptions options;
  options.clusters = clusters;
  return options;
}
ComputeGroupOptions of_mask(std::uint64_t clusters, std::uint32_t id) {
  ComputeGroupOptions options;
  options.cluster_mask[0] = clusters;
  options.id = id;
  return options;
}

// One task: nobody ever waits for the lock.
class NoClock : public platform::Clock {
 public:
  Instant now() override { return {}; }
  void relax(ConstByteSpan, Instant) override { FAIL() << "a lock is kept"; }
  void sleep_until(Instant) override { FAIL() << "a lock is kept"; }
};

class CoreGroupsTest : public testing::Test {
 protected:
  NoClock clock;
  CoreGroups groups{clock};
};

TEST_F(CoreGroupsTest, WithoutGroupsAProcessHasAllCores) {
  EXPECT_EQ(*groups.enter(0), kAllCores);
  const auto all = groups.list(kCard);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].cluster_count, 24U);
  EXPECT_EQ(all[0].vector_cores, 48U);
  EXPECT_EQ(all[0].processes, 1U);
}

TEST_F(CoreGroupsTest, AClusterBringsItsVectorCores) {
  const auto made = must(groups.create(of_mask(0b1010, 7), kCard));
  EXPECT_EQ(made.id, 7U);
  // Vector cores of cluster i are 24 + 2i and the next.
  const std::uint64_t cores = 0b1010 | 0b11ULL << 26 | 0b11ULL << 30;
  EXPECT_EQ(made.cores, (CoreMask{cores, 0, 0, 0}));
  EXPECT_EQ(*groups.enter(7), made.cores);
  EXPECT_EQ((*groups.enter(0))[0], ~cores);
}

TEST_F(CoreGroupsTest, CoupledCoresAreTheirClusters) {
  ASSERT_THAT(groups.create(of(2), kCoupled), IsOk());
  const auto second = must(groups.create(of(3), kCoupled));
  EXPECT_EQ(second.id, 2U);
  EXPECT_EQ(second.cores, (CoreMask{0b11100, 0, 0, 0}));
}

TEST_F(CoreGroupsTest, OneClusterStaysWithTheRest) {
  EXPECT_THAT(groups.create(of(24), kCard), FailsWith(ErrorCode::kOutOfResources));
  ASSERT_THAT(groups.create(of(23), kCard), IsOk());
  EXPECT_THAT(groups.create(of(1), kCard), FailsWith(ErrorCode::kOutOfResources));
}

TEST_F(CoreGroupsTest, WhatCannotBeIsSaid) {
  EXPECT_THAT(groups.create({}, kCard), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(groups.create(of(25), kCard), FailsWith(ErrorCode::kInvalidArgument, "24"));
  EXPECT_THAT(groups.create(of_mask(1ULL << 24, 1), kCard),
              FailsWith(ErrorCode::kInvalidArgument, "24"));
  EXPECT_THAT(groups.create(of_mask(1, 0), kCard), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(groups.create(of_mask(1, kComputeGroups), kCard),
              FailsWith(ErrorCode::kInvalidArgument));
  ASSERT_THAT(groups.create(of_mask(3, 4), kCard), IsOk());
  EXPECT_THAT(groups.create(of_mask(8, 4), kCard), FailsWith(ErrorCode::kAlreadyExists));
  EXPECT_THAT(groups.create(of_mask(2, 5), kCard), FailsWith(ErrorCode::kOutOfResources));
  EXPECT_THAT(groups.enter(3), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(groups.enter(kComputeGroups), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(groups.remove(0), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(groups.remove(3), FailsWith(ErrorCode::kNotFound));
}

TEST_F(CoreGroupsTest, AnOpenProcessKeepsThemAsTheyAre) {
  ASSERT_THAT(groups.create(of(4), kCard), IsOk());
  auto member = must(GroupMembership::enter(groups, 1));
  auto moved = std::move(member);
  EXPECT_EQ(groups.list(kCard)[1].processes, 1U);
  EXPECT_THAT(groups.create(of(4), kCard), FailsWith(ErrorCode::kBusy));
  EXPECT_THAT(groups.remove(1), FailsWith(ErrorCode::kBusy));
  moved = {};
  EXPECT_EQ(groups.list(kCard)[1].processes, 0U);
  EXPECT_THAT(groups.remove(1), IsOk());
  EXPECT_EQ(groups.list(kCard)[0].cluster_count, 24U);
}

// Against an owner for each cluster.
TEST_F(CoreGroupsTest, AreDisjointAndTogetherTheCard) {
  std::mt19937 random(20);
  std::array<std::uint32_t, 24> owner{};
  for (int step = 0; step < 2000; ++step) {
    const auto id = static_cast<std::uint32_t>(random() % 9);
    if (random() % 2 == 0) {
      std::uint64_t mask = 0;  // of one cluster in eight
      for (unsigned i = 0; i < 24; ++i) mask |= std::uint64_t{random() % 8 == 0} << i;
      bool free = id != 0 && mask != 0;
      unsigned left = 0;
      for (unsigned i = 0; i < 24; ++i) {
        if (owner[i] == id) free = false;
        if ((mask >> i & 1) != 0 && owner[i] != 0) free = false;
        if ((mask >> i & 1) == 0 && owner[i] == 0) ++left;
      }
      const auto made = groups.create(of_mask(mask, id), kCard);
      ASSERT_EQ(made.has_value(), free && left > 0) << step;
      for (unsigned i = 0; made && i < 24; ++i) {
        if ((mask >> i & 1) != 0) owner[i] = id;
      }
    } else {
      const bool there = id != 0 && std::count(owner.begin(), owner.end(), id) != 0;
      ASSERT_EQ(groups.remove(id).has_value(), there) << step;
      if (there) std::replace(owner.begin(), owner.end(), id, 0U);
    }
    for (const auto& group : groups.list(kCard)) {
      for (unsigned i = 0; i < 24; ++i) {
        ASSERT_EQ((group.clusters[0] >> i & 1) != 0, owner[i] == group.id) << step;
      }
    }
  }
}

TEST_F(CoreGroupsTest, AQueueMayUseWhatItWantsOfItsGroupsCores) {
  ASSERT_THAT(groups.create(of_mask(0b1, 1), kCard), IsOk());  // cube core 0, vector cores 0 and 1
  auto member = must(GroupMembership::enter(groups, 1));
  const auto all = must(member.within(kAllCores));
  EXPECT_EQ(all, member.cores());
  CoreMask others = kAllCores;
  for (std::size_t i = 0; i < others.size(); ++i) others[i] &= ~member.cores()[i];
  EXPECT_THAT(member.within(others), FailsWith(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace npu::driver
