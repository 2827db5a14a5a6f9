// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/registry.hpp"

#include <gmock/gmock.h>

namespace npu::workloads {
namespace {

using testing::HasSubstr;

TEST(Registry, FindsAWorkloadByName) {
  Registry registry;
  registry.add({"dma_latency", "doc", {}, nullptr});
  const auto found = registry.find("dma_latency");
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)->name, "dma_latency");
}

TEST(Registry, SuggestsTheNearestName) {
  Registry registry;
  registry.add({"dma_latency", "", {}, nullptr});
  registry.add({"dma_bandwidth", "", {}, nullptr});
  const auto found = registry.find("dma_bandwith");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(found.error().context, HasSubstr("did you mean 'dma_bandwidth'?"));
}

}  // namespace
}  // namespace npu::workloads
