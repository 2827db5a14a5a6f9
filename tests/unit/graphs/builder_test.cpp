// SPDX-License-Identifier: Apache-2.0
// Tasks and dependencies that come of a graph file.
#include <gmock/gmock.h>

#include "kernels/device/shipped/attention.hpp"
#include "kernels/device/shipped/matmul.hpp"
#include "tests/unit/graphs/graph_text.hpp"

namespace npu::workloads {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kTensor = "tensors:\n  x: {type: fp32, rows: 8, columns: 8, tile: [4, 4]}\n";

// An elementwise task on tiles of `x`, beginning in line 4.
std::string task_on(const std::string& tiles) {
  return kTensor + "tasks:\n  - kernel: elementwise\n    arguments: {op: adds, " + tiles + "}\n";
}

TEST(GraphBuilder, LoopsRunFromTheirFirstToBeforeTheirEndOuterOnesFirst) {
  const auto graph = read_graph("tasks:\n  - for: {i: [1, 3], j: i}\n    name: t_{i}_{j}\n");
  EXPECT_THAT(graph.built.names, ElementsAre("t_1_0", "t_2_0", "t_2_1"));
}

TEST(GraphBuilder, GroupsShareTheirLoops) {
  const auto graph = read_graph(
      "tasks:\n  - for: {i: 2}\n    tasks:\n      - name: a_{i}\n      - when: i > 0\n        "
      "name: "
      "b_{i}\n");
  EXPECT_THAT(graph.built.names, ElementsAre("a_0", "a_1", "b_1"));
}

TEST(GraphBuilder, AfterNamesTasksThatCameOrThatCome) {
  const auto graph =
      read_graph("tasks:\n  - {name: a, after: [c]}\n  - {name: b, after: [a]}\n  - {name: c}\n")
          .built;
  EXPECT_THAT(graph.graph.task({0}).producers, ElementsAre(2U));
  EXPECT_THAT(graph.graph.task({1}).producers, ElementsAre(0U));
  EXPECT_THAT(graph.graph.task({2}).producers, IsEmpty());
  EXPECT_EQ(graph.longest_path, 3U);
}

TEST(GraphBuilder, ATaskWaitsForTheWritersOfItsTilesUnlessUnordered) {
  const std::string first = task_on("to: \"x[0]\", a: \"x[1]\", scalar: 1");
  const std::string second =
      "  - kernel: elementwise\n    arguments: {op: adds, to: \"x[2]\", scalar: 1, ";
  EXPECT_EQ(read_graph(first + second + "a: \"x[0]\"}\n").built.graph.edges(), 1U);
  EXPECT_EQ(read_graph(first + second + "a: \"x[1]\"}\n").built.graph.edges(), 0U);
  EXPECT_EQ(
      read_graph(first + second + "a: {tile: \"x[0]\", ordered: false}}\n").built.graph.edges(),
      0U);
}

TEST(GraphBuilder, TilesLieOneBehindTheOther) {
  const auto graph = read_graph(task_on("to: \"x[1, 0]\", a: \"x[0, 1]\", scalar: 1")).built.graph;
  const auto& words = graph.task({0}).words;
  // Two tiles of 4 x 4 fp32 in a row: tile 2 and tile 1.
  EXPECT_EQ(words[0] - words[1], 1U * 4 * 4 * 4);
}

TEST(GraphBuilder, AnElementsPlaceIsThatOfItsTile) {
  const auto spec = parse_graph(kHead + task_on("to: \"x[0]\", a: \"x[0]\""), "g.yaml", "");
  ASSERT_TRUE(spec);
  const auto tensors = make_tensors(*spec);
  ASSERT_TRUE(tensors);
  EXPECT_EQ(tensors->front().offset(0, 0), 0U);
  EXPECT_EQ(tensors->front().offset(0, 4), 16U);
  EXPECT_EQ(tensors->front().offset(5, 6), 3U * 16 + 1 * 4 + 2);
}

TEST(GraphBuilder, TilesBeyondTheTensorAreMistakes) {
  EXPECT_EQ(error_of(task_on("to: \"x[4]\", a: \"x[0]\"")), "5:34: tile of x: is 4; allowed: 0..3");
  EXPECT_EQ(error_of(task_on("to: \"x[0, 2]\", a: \"x[0]\"")),
            "5:36: tile of x: is 2; allowed: 0..1");
  EXPECT_EQ(error_of(task_on("to: x, a: \"x[0]\"")), "5:31: x: has tiles; name one, [i] or [i, j]");
}

TEST(GraphBuilder, ArgumentsThatDoNotFitAreMistakes) {
  EXPECT_EQ(error_of(task_on("to: \"x[0]\"")), "4:5: a: is missing");
  EXPECT_EQ(error_of(task_on("to: \"x[0]\", a: \"x[0]\", b: \"x[1]\"")),
            "5:53: b: this operation has one operand");
  EXPECT_EQ(error_of("tensors:\n  x: {type: fp16, rows: 4, columns: 8}\ntasks:\n  - kernel: "
                     "matmul\n    arguments: {a: x, b: x, c: x}\n"),
            "5:26: b: is 4 x 8 fp16; 8 x 8 is needed");
}

TEST(GraphBuilder, NamesOfNobodyAndTakenNamesAreMistakes) {
  EXPECT_EQ(error_of("tasks:\n  - {name: a, after: [b]}\n"), "2:23: after: no task is called 'b'");
  EXPECT_EQ(error_of("tasks:\n  - {name: a}\n  - {name: a}\n"),
            "3:12: tasks.name: a task 'a' is there already");
}

TEST(GraphBuilder, ACycleIsNamedWhereItCloses) {
  EXPECT_EQ(error_of("tasks:\n  - {name: a, after: [b]}\n  - {name: b, after: [a]}\n"),
            "2:23: after: 'b' comes after task 'a' itself: a cycle");
}

TEST(GraphBuilder, TooManyProducersAreAMistakeOfTheTask) {
  const std::string text =
      "tasks:\n  - {for: {i: 129}, name: \"p_{i}\"}\n  - name: c\n    after: [{for: {i: N}, task: "
      "\"p_{i}\"}]\n";
  auto with = [&](const std::string& count) {
    std::string changed = text;
    return changed.replace(changed.find('N'), 1, count);
  };
  EXPECT_EQ(read_graph(with("128")).built.graph.edges(), 128U);
  EXPECT_EQ(error_of(with("129")),
            "3:5: tasks: task 129: waits for 129 tasks, at most 128 are possible");
}

TEST(GraphBuilder, CountsOtherThanExpectedAreMistakes) {
  EXPECT_EQ(error_of("tasks:\n  - for: {i: 3}\n    name: t_{i}\ncheck: {tasks: 2}\n"),
            "4:16: tasks: the graph has 3, not 2");
}

TEST(GraphBuilder, EndlessLoopsEnd) {
  EXPECT_EQ(error_of("tasks:\n  - for: {i: 100000000000}\n    when: 0\n    name: a\n"),
            "2:14: for: more than 32000000 rounds in all");
  EXPECT_EQ(error_of("tasks:\n  - for: {i: 200000}\n"),
            "2:5: tasks: a graph has at most 131072 tasks");
}

TEST(GraphBuilder, AMultiplicationsWordsAreItsProblem) {
  const auto graph = read_graph(
      "tensors:\n  a: {type: bf16, rows: 3, columns: 5}\n  b: {type: bf16, rows: 5, columns: 7}\n  "
      "c: {type: fp32, rows: 3, columns: 7}\ntasks:\n  - kernel: matmul\n    arguments: {a: a, b: "
      "b, c: c}\n");
  ASSERT_EQ(graph.error, "");
  const auto& words = graph.built.graph.task({0}).words;
  ASSERT_EQ(words.size(), kernels::gemm::kWords);
  kernels::gemm::Words raw{};
  std::copy(words.begin(), words.end(), raw.begin());
  const auto problem = kernels::gemm::from_words(raw);
  EXPECT_EQ((std::vector{problem.m, problem.n, problem.k}), (std::vector{3U, 7U, 5U}));
  EXPECT_EQ((std::vector{problem.lda, problem.ldb, problem.ldc}), (std::vector{5U, 7U, 7U}));
  EXPECT_EQ(problem.type, DataType::kBf16);
  EXPECT_EQ(problem.to_type, DataType::kFp32);
}

}  // namespace
}  // namespace npu::workloads
