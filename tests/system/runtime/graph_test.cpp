// SPDX-License-Identifier: Apache-2.0
// The shipped graphs on simulated cards: their results are checked by the workload itself, against
// what their files say.
#include <gtest/gtest.h>

#include "tests/support/folders.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

reports::Report run_graph(const std::string& graph, const std::string& parameters = "",
                          const std::string& config = "910b2.yaml",
                          const std::vector<std::string>& more = {}) {
  Machine machine({}, config);
  std::vector<std::string> values = {
      "graph=" + source_dir() + "/workloads/graphs/" + graph + ".yaml", "parameters=" + parameters};
  values.insert(values.end(), more.begin(), more.end());
  return machine.workload("graph", values);
}

struct Shipped {
  const char* graph;
  const char* parameters;

  friend std::ostream& operator<<(std::ostream& out, const Shipped& shipped) {
    return out << shipped.graph;
  }
};

class ShippedGraphs : public testing::TestWithParam<std::tuple<Shipped, const char*>> {};

TEST_P(ShippedGraphs, ComputeWhatTheirFilesSay) {
  const auto& [shipped, config] = GetParam();
  const auto report = run_graph(shipped.graph, shipped.parameters, config);
  const std::string prefix = std::string("graph.") + shipped.graph + ".";
  EXPECT_GT(metric(report, prefix + "elements_compared"), 0);
  EXPECT_GT(metric(report, prefix + "duration_us"), 0);
  EXPECT_GT(metric(report, prefix + "host_to_host_us"), metric(report, prefix + "duration_us"));
}

INSTANTIATE_TEST_SUITE_P(
    Cards, ShippedGraphs,
    testing::Combine(testing::Values(Shipped{"vector_diamond", ""}, Shipped{"matmul_diamond", ""},
                                     Shipped{"tiled_gemm", "m=2,n=2,k=3,tile=64"},
                                     Shipped{"paged_attention", "batch=3,blocks=4,pages=5"},
                                     Shipped{"independent_mix", "aic=30,aiv=60"},
                                     Shipped{"all_to_all", ""}, Shipped{"chain", "length=20"},
                                     Shipped{"dependency_only", "layers=3,width=20"},
                                     Shipped{"predicated", "tasks=10"},
                                     Shipped{"mixed_blocks", "tasks=2"}),
                     testing::Values("910b2.yaml", "910b.yaml", "910.yaml", "910a.yaml",
                                     "910b1.yaml", "910b3.yaml", "910b4.yaml", "910c.yaml",
                                     "950.yaml", "950pr.yaml")),
    [](const auto& instance) {
      const std::string config = std::get<1>(instance.param);
      return std::string(std::get<0>(instance.param).graph) + "_" +
             config.substr(0, config.find('.'));
    });

TEST(GraphRuns, TheDiamondIsFortyTwoWithoutError) {
  const auto report = run_graph("vector_diamond");
  EXPECT_EQ(exact(report, "graph.vector_diamond.elements_compared"), 16'384);
  EXPECT_EQ(exact(report, "graph.vector_diamond.max_relative_error"), 0);
  EXPECT_EQ(exact(report, "graph.vector_diamond.aiv_blocks"), 4);
}

TEST(GraphRuns, PagedAttentionShowsItsDispatchBoundPhases) {
  const auto report = run_graph("paged_attention", "batch=16,blocks=16");
  const std::string prefix = "graph.paged_attention.";
  for (const auto* pool : {"aic", "aiv"}) {
    EXPECT_GT(exact(report, prefix + pool + "_dispatch_bound_phases"), 0) << pool;
    EXPECT_GT(metric(report, prefix + pool + "_dispatch_bound_percent"), 0) << pool;
    EXPECT_GT(metric(report, prefix + pool + "_longest_dispatch_bound_percent"), 0) << pool;
  }
  EXPECT_EQ(exact(report, prefix + "tasks"), 4 * 16 * 16);
  EXPECT_EQ(exact(report, prefix + "longest_path"), 3 + 16);
}

TEST(GraphRuns, TheGuidesGraphIsRight) {
  Machine machine({}, "910b2.yaml");
  const auto report = machine.workload(
      "graph", {"graph=" + source_dir() + "/docs/guide/sums.yaml", "parameters=depth=8"});
  EXPECT_EQ(exact(report, "graph.sums.tasks"), 64);
  EXPECT_EQ(exact(report, "graph.sums.elements_compared"), 4 * 64 * 64);
  EXPECT_EQ(exact(report, "graph.sums.max_relative_error"), 0);
}

TEST(GraphRuns, SkippedTasksHaveNoBlocks) {
  // Of ten tasks with predicates every second one is skipped; ten more have none.
  const auto report = run_graph("predicated", "tasks=10");
  EXPECT_EQ(exact(report, "graph.predicated.blocks"), 15);
}

TEST(GraphRuns, ManyIndependentTasksKeepOneClusterBusy) {
  const auto mix = run_graph("independent_mix", "aic=16,aiv=1", "910b2.yaml", {"block_dim=1"});
  EXPECT_EQ(exact(mix, "graph.independent_mix.aic_blocks"), 16);
  EXPECT_GT(metric(mix, "graph.independent_mix.aic_busy_percent"), 50);
}

TEST(GraphRuns, AChainLeavesAllCoresButOneIdle) {
  // One vector core of 48 at a time.
  const auto chain = run_graph("chain", "length=20");
  EXPECT_LT(metric(chain, "graph.chain.aiv_busy_percent"), 100.0 / 48);
  EXPECT_GT(metric(chain, "graph.chain.aiv_dispatch_bound_percent"), 0);
}

TEST(GraphRuns, TheMemoryHandshakeGivesTheSameResult) {
  const auto report =
      run_graph("tiled_gemm", "m=2,n=2,k=2,tile=64", "910b2.yaml", {"handshake=memory"});
  EXPECT_EQ(exact(report, "graph.tiled_gemm.max_relative_error"), 0);
}

TEST(GraphRuns, OneThreadAndSingleIssueGiveTheSameResult) {
  const auto report = run_graph("tiled_gemm", "m=2,n=2,k=2,tile=64", "910b2.yaml",
                                {"aicpu_thread_num=1", "dual_issue=off", "block_dim=3"});
  EXPECT_EQ(exact(report, "graph.tiled_gemm.max_relative_error"), 0);
}

}  // namespace
}  // namespace npu::test
