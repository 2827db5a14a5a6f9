// SPDX-License-Identifier: Apache-2.0
// All-reduce by NHR, computed as its plans say: which ranks' data are in each element of a result,
// and by how many reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>

#include "driver/collectives/operation_plan.hpp"

namespace npu::driver {
namespace {

using Sum = std::bitset<kMaxRanks>;  // whose data are added
using Buffer = std::vector<Sum>;     // one for each element

std::vector<Plan> plans_of(unsigned ranks, std::uint64_t elements) {
  PlanRequest request;
  request.algorithm = CollectiveAlgorithm::kNhr;
  request.count = elements;
  std::vector<Plan> plans;
  for (unsigned i = 0; i < ranks; ++i) plans.push_back(make_plan(request, {i, ranks}, 0, elements));
  return plans;
}

std::size_t reads_of(const Plan& plan) {
  std::size_t reads = 0;
  for (const auto& step : plan) reads += step.reads.size();
  return reads;
}

void take(Buffer& mine, const Buffer& theirs, const PlanRead& read) {
  for (Bytes i = 0; i < read.size; ++i) {
    auto& sum = mine[read.to.offset + i];
    const auto& more = theirs[read.from + i];
    if (read.reduces) {
      EXPECT_TRUE((sum & more).none()) << "added twice";
      sum |= more;
    } else {
      sum = more;
    }
  }
}

// The buffers after all steps. A rank that is read from has said so. The last step is copies alone,
// which a rank without reads before it has in the step before.
std::vector<Buffer> after(const std::vector<Plan>& plans, std::uint64_t elements) {
  std::vector<Buffer> buffers(plans.size(), Buffer(elements));
  for (unsigned i = 0; i < plans.size(); ++i) {
    for (auto& sum : buffers[i]) sum.set(i);
  }
  std::size_t steps = 0;
  for (const auto& plan : plans) steps = std::max(steps, plan.size());
  for (std::size_t step = 0; step < steps; ++step) {
    const auto before = buffers;
    for (unsigned i = 0; i < plans.size(); ++i) {
      if (step >= plans[i].size()) continue;
      for (const auto& read : plans[i][step].reads) {
        const auto& readers = plans[read.peer][step].readers;
        EXPECT_EQ(readers, std::vector<unsigned>{i});
        take(buffers[i], before[read.peer], read);
      }
    }
  }
  return buffers;
}

TEST(NhrPlan, EveryElementHasTheDataOfEveryRankOnce) {
  for (unsigned ranks = 2; ranks <= 40; ++ranks) {
    for (const std::uint64_t elements : {1U, ranks - 1, ranks, 3 * ranks + 2}) {
      const auto plans = plans_of(ranks, elements);
      for (const auto& buffer : after(plans, elements)) {
        for (const auto& sum : buffer) ASSERT_EQ(sum.count(), ranks) << elements << " elements";
      }
    }
  }
}

// Of a power of two, and of three times one.
TEST(NhrPlan, AStepIsOneRead) {
  const auto reads = [](unsigned ranks) {
    const auto plans = plans_of(ranks, 2 * ranks);
    std::size_t most = 0;
    for (const auto& plan : plans) most = std::max(most, reads_of(plan));
    return most;
  };
  EXPECT_EQ(reads(2), 2U * 1);
  EXPECT_EQ(reads(8), 2U * 3);
  EXPECT_EQ(reads(12), 2U * 4);
  EXPECT_EQ(reads(64), 2U * 6);
  EXPECT_EQ(reads(kMaxRanks), 2U * 9);
}

}  // namespace
}  // namespace npu::driver
