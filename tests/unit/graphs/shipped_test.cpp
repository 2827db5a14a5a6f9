// SPDX-License-Identifier: Apache-2.0
// The shipped graphs: tasks, edges and longest paths as their closed forms say.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/folders.hpp"
#include "workloads/task_graph/graph_builder.hpp"
#include "workloads/task_graph/graph_reader.hpp"

namespace npu::workloads {
namespace {

struct Counts {
  std::size_t tasks, edges, longest_path;

  friend bool operator==(const Counts& a, const Counts& b) {
    return a.tasks == b.tasks && a.edges == b.edges && a.longest_path == b.longest_path;
  }
  friend std::ostream& operator<<(std::ostream& out, const Counts& c) {
    return out << c.tasks << " tasks, " << c.edges << " edges, path " << c.longest_path;
  }
};

std::string path_of(const std::string& name) {
  return source_dir() + "/workloads/graphs/" + name + ".yaml";
}

Counts counts_of(const std::string& name, const std::string& overrides = "") {
  const auto spec = read_graph_file(path_of(name), overrides);
  if (!spec) return ADD_FAILURE() << spec.error().message(), Counts{};
  const auto tensors = make_tensors(*spec);
  if (!tensors) return ADD_FAILURE() << tensors.error().message(), Counts{};
  const auto built = build_graph(*spec, *tensors);
  if (!built) return ADD_FAILURE() << built.error().message(), Counts{};
  return {built->graph.tasks(), built->graph.edges(),
          static_cast<std::size_t>(built->longest_path)};
}

TEST(ShippedGraphs, DiamondsHaveFourTasks) {
  EXPECT_EQ(counts_of("vector_diamond"), (Counts{4, 4, 3}));
  EXPECT_EQ(counts_of("matmul_diamond"), (Counts{4, 4, 3}));
}

TEST(ShippedGraphs, PagedAttentionIsTheIssuesGraph) {
  EXPECT_EQ(counts_of("paged_attention"), (Counts{65'536, 65'280, 67}));
  EXPECT_EQ(counts_of("paged_attention", "batch=4,blocks=8"), (Counts{128, 96 + 28, 11}));
}

TEST(ShippedGraphs, AllToAllHasAnEdgeForEachPair) {
  EXPECT_EQ(counts_of("all_to_all"), (Counts{128, 4096, 2}));
}

TEST(ShippedGraphs, TilesOfAMultiplicationAreAddedUpOneAfterTheOther) {
  EXPECT_EQ(counts_of("tiled_gemm"), (Counts{128, 112, 5}));
  EXPECT_EQ(counts_of("tiled_gemm", "m=2,n=3,k=1"), (Counts{12, 6, 2}));
}

TEST(ShippedGraphs, MixesHaveNoEdgesAndChainsNothingElse) {
  EXPECT_EQ(counts_of("independent_mix", "aic=10,aiv=20"), (Counts{30, 0, 1}));
  EXPECT_EQ(counts_of("chain", "length=100"), (Counts{100, 99, 100}));
}

TEST(ShippedGraphs, BarriersAndPredicatesAreDependencies) {
  EXPECT_EQ(counts_of("dependency_only", "layers=3,width=5"), (Counts{18, 15 + 10, 6}));
  EXPECT_EQ(counts_of("predicated", "tasks=10"), (Counts{20, 10, 2}));
  EXPECT_EQ(counts_of("mixed_blocks"), (Counts{6, 3, 3}));
}

TEST(ShippedGraphs, EveryFileOfTheFolderCanBeBuilt) {
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(source_dir() + "/workloads/graphs")) {
    if (file.path().extension() != ".yaml") continue;
    EXPECT_GT(counts_of(file.path().stem().string()).tasks, 0U) << file.path();
    ++files;
  }
  EXPECT_GE(files, 10U);
}

}  // namespace
}  // namespace npu::workloads
