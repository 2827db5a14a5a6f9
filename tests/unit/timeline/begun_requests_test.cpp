// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/begun_requests.hpp"

#include <gtest/gtest.h>

#include "npu/platform/trace.hpp"

namespace npu::timeline {
namespace {

using platform::dma_cause;
using platform::page_copy_cause;
using platform::queue_cause;

TEST(BegunRequests, AreThoseBetweenTheFirstAndTheLastOfTheirRing) {
  BegunRequests begun;
  for (const std::uint64_t index : {17, 19, 18}) begun.add(dma_cause(0, index));
  EXPECT_FALSE(begun.holds(dma_cause(0, 16)));
  EXPECT_TRUE(begun.holds(dma_cause(0, 17)));
  EXPECT_TRUE(begun.holds(dma_cause(0, 18)));
  EXPECT_TRUE(begun.holds(dma_cause(0, 19)));
  EXPECT_FALSE(begun.holds(dma_cause(0, 20)));
}

TEST(BegunRequests, OfOneRingSayNothingOfAnother) {
  BegunRequests begun;
  begun.add(queue_cause(0, 1, 5));
  EXPECT_TRUE(begun.holds(queue_cause(0, 1, 5)));
  EXPECT_FALSE(begun.holds(queue_cause(1, 1, 5)));
  EXPECT_FALSE(begun.holds(queue_cause(0, 2, 5)));
  EXPECT_FALSE(begun.holds(dma_cause(0, 5)));
  begun.add(page_copy_cause(0, 7));
  begun.add(dma_cause(0, 8));
  EXPECT_TRUE(begun.holds(page_copy_cause(0, 7)));
  EXPECT_FALSE(begun.holds(page_copy_cause(0, 6)));
  EXPECT_FALSE(begun.holds(dma_cause(0, 9)));
}

}  // namespace
}  // namespace npu::timeline
