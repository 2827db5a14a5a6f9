// SPDX-License-Identifier: Apache-2.0
// The biggest shipped graph through driver, queues, scheduler and cores: its result is checked by
// the workload against what the file says. `ctest -C slow -L slow` runs it.
#include <gtest/gtest.h>

#include "tests/support/folders.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

TEST(BigGraph, PagedAttentionOf65536TasksIsRightAndShowsWhereDispatchBoundIt) {
  Machine machine({}, "910b2.yaml");
  const auto report = machine.workload(
      "graph", {"graph=" + source_dir() + "/workloads/graphs/paged_attention.yaml"});
  const std::string prefix = "graph.paged_attention.";
  // 256 sequences of 64 pages: scores, softmax, values and update of each; the first update of a
  // sequence waits for none, and its last one for 63 others, and three tasks before the first.
  EXPECT_EQ(exact(report, prefix + "tasks"), 256 * 64 * 4);
  EXPECT_EQ(exact(report, prefix + "edges"), 256 * (64 * 3 + 63));
  EXPECT_EQ(exact(report, prefix + "longest_path"), 3 + 64);
  EXPECT_EQ(exact(report, prefix + "aic_blocks"), 256 * 64 * 2);
  EXPECT_EQ(exact(report, prefix + "aiv_blocks"), 256 * 64 * 2);
  EXPECT_GT(exact(report, prefix + "elements_compared"), 0);
  for (const auto* pool : {"aic", "aiv"}) {
    EXPECT_GT(exact(report, prefix + pool + "_dispatch_bound_phases"), 0) << pool;
    EXPECT_GT(metric(report, prefix + pool + "_dispatch_bound_percent"), 0) << pool;
  }
}

}  // namespace
}  // namespace npu::test
