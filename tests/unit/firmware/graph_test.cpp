// SPDX-License-Identifier: Apache-2.0
// Graphs on the scheduler, on one to four threads and with both handshakes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/firmware/graph_run.hpp"

namespace npu::test {
namespace {

using abi::HandshakeKind;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }

 private:
  std::mt19937 engine_;
};

struct Variant {
  unsigned threads;
  HandshakeKind handshake;
  std::uint32_t flags;
};

class VariantRun : public GraphRun {
 public:
  explicit VariantRun(const Variant& variant, std::vector<CoreType> cores = split_cores(4))
      : GraphRun(std::move(cores), variant.threads) {
    header.handshake = static_cast<std::uint32_t>(variant.handshake);
    header.flags = variant.flags;
  }
};

class Graph : public testing::TestWithParam<Variant> {
 protected:
  static void expect_good(GraphRun& graph) {
    const auto result = graph.run();
    EXPECT_EQ(static_cast<RunStatus>(result.status), RunStatus::kOk);
    EXPECT_EQ(result.completed, graph.nodes.size());
    graph.expect_complete_and_in_order();
    for (const auto& core : graph.machine.cores) {
      EXPECT_TRUE(core.exited);
      EXPECT_FALSE(core.open);
    }
  }
};

TEST_P(Graph, ARunWithoutTasksEndsAtOnce) {
  VariantRun graph(GetParam());
  expect_good(graph);
}

TEST_P(Graph, AChainRunsOneAfterAnother) {
  VariantRun graph(GetParam());
  for (std::uint32_t i = 0; i < 50; ++i) {
    graph.add(i % 2 == 0 ? TaskShape::kAic : TaskShape::kAiv,
              i == 0 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{i - 1});
  }
  expect_good(graph);
}

TEST_P(Graph, BothSidesOfADiamondRunAtTheSameTime) {
  VariantRun graph(GetParam());
  const auto top = graph.add(TaskShape::kAiv);
  const auto left = graph.add(TaskShape::kAiv, {top});
  const auto right = graph.add(TaskShape::kAiv, {top});
  graph.add(TaskShape::kAiv, {left, right});
  graph.machine.duration = [](auto, auto) { return 20'000U; };
  expect_good(graph);
  const auto a = graph.runs_of(left)[0], b = graph.runs_of(right)[0];
  EXPECT_LT(std::max(a.begin, b.begin), std::min(a.end, b.end));
}

TEST_P(Graph, ATaskMayWaitFor128Others) {
  VariantRun graph(GetParam());
  std::vector<std::uint32_t> producers;
  for (unsigned i = 0; i < abi::kMaxTaskProducers; ++i) {
    producers.push_back(graph.add(TaskShape::kAic));
  }
  graph.add(TaskShape::kAiv, producers);
  expect_good(graph);
}

TEST_P(Graph, AllToAllHas4096Edges) {
  VariantRun graph(GetParam());
  std::vector<std::uint32_t> producers;
  for (unsigned i = 0; i < 64; ++i) producers.push_back(graph.add(TaskShape::kAic));
  for (unsigned i = 0; i < 64; ++i) graph.add(TaskShape::kAiv, producers);
  expect_good(graph);
}

TEST_P(Graph, ConsumersMayBeWiredAfterTheirProducerHasEnded) {
  VariantRun graph(GetParam());
  graph.machine.duration = [](auto, auto) { return 1U; };
  graph.add(TaskShape::kAiv);
  for (unsigned i = 0; i < 500; ++i) graph.add(TaskShape::kAic);
  for (unsigned i = 0; i < 500; ++i) graph.add(TaskShape::kAiv, {0, i});
  expect_good(graph);
}

TEST_P(Graph, DependencyOnlyTasksNeedNoCore) {
  VariantRun graph(GetParam());
  std::uint32_t last = graph.add(TaskShape::kAic);
  for (unsigned i = 0; i < 40; ++i) last = graph.add(TaskShape::kNone, {last});
  graph.add(TaskShape::kAiv, {last});
  expect_good(graph);
  EXPECT_EQ(graph.machine.log.size(), 2U);
}

TEST_P(Graph, APredicateOfZeroSkipsTheTaskButNotItsConsumers) {
  VariantRun graph(GetParam());
  const auto first = graph.add(TaskShape::kAic);
  const auto skipped = graph.add(Node{TaskShape::kAiv, {first}, 1, 0, 0});
  const auto kept = graph.add(Node{TaskShape::kAiv, {first}, 1, 0, 7});
  graph.add(TaskShape::kAiv, {skipped, kept});
  expect_good(graph);
  EXPECT_TRUE(graph.runs_of(skipped).empty());
  EXPECT_EQ(graph.runs_of(kept).size(), 1U);
}

TEST_P(Graph, BlocksOfOneTaskSpreadOverTheCoresOfAllThreads) {
  VariantRun graph(GetParam());
  const auto wide = graph.add(Node{TaskShape::kAiv, {}, 100, 0});
  graph.add(TaskShape::kAic, {wide});
  graph.machine.duration = [](auto, auto) { return 30'000U; };
  expect_good(graph);
  std::vector<bool> used(graph.machine.cores.size());
  for (const auto& run : graph.runs_of(wide)) used[run.worker] = true;
  EXPECT_EQ(std::count(used.begin(), used.end(), true), 8);
}

TEST_P(Graph, AMixedBlockHasACubeCoreAndItsTwoVectorCores) {
  VariantRun graph(GetParam());
  const auto mixed = graph.add(Node{TaskShape::kMixed, {}, 12, 0});
  expect_good(graph);
  for (const auto& run : graph.runs_of(mixed)) {
    // Cluster i is core i with cores 4 + 2 i and 5 + 2 i.
    const auto cluster = run.role == 0 ? run.worker : (run.worker - 4) / 2;
    const auto same = [&](const CoreRun& other) {
      const auto its = other.role == 0 ? other.worker : (other.worker - 4) / 2;
      return other.block == run.block && its == cluster;
    };
    const auto all = graph.runs_of(mixed);
    EXPECT_EQ(std::count_if(all.begin(), all.end(), same), 3);
    EXPECT_EQ(run.role == 0 ? 0 : (run.worker - 4) % 2 + 1, run.role);
  }
}

TEST_P(Graph, MixedTasksGetAClusterAmongManyOthers) {
  VariantRun graph(GetParam());
  for (unsigned i = 0; i < 60; ++i) graph.add(TaskShape::kAic);
  for (unsigned i = 0; i < 120; ++i) graph.add(TaskShape::kAiv);
  for (unsigned i = 0; i < 20; ++i) graph.add(TaskShape::kMixed, {i});
  expect_good(graph);
}

// Cores that are never idle at the same time of their own accord.
TEST_P(Graph, AMixedTaskDoesNotWaitForTheEndOfAllOthers) {
  VariantRun graph(GetParam());
  graph.machine.duration = [](auto task, auto) { return 2000 + 137 * (task % 17); };
  const auto first = graph.add(TaskShape::kAic);
  const auto mixed = graph.add(TaskShape::kMixed, {first});
  for (unsigned i = 0; i < 200; ++i) graph.add(TaskShape::kAic);
  for (unsigned i = 0; i < 400; ++i) graph.add(TaskShape::kAiv);
  expect_good(graph);
  const auto begun = graph.runs_of(mixed)[0].begin;
  const auto& log = graph.machine.log;
  const auto before =
      std::count_if(log.begin(), log.end(), [&](const CoreRun& run) { return run.begin < begun; });
  EXPECT_LT(before, 300);
}

TEST_P(Graph, CoupledCoresRunEveryShape) {
  VariantRun graph(GetParam(), coupled_cores(8));
  for (unsigned i = 0; i < 40; ++i) {
    graph.add(i % 3 == 0 ? TaskShape::kAic : i % 3 == 1 ? TaskShape::kAiv : TaskShape::kMixed);
  }
  expect_good(graph);
}

TEST_P(Graph, BlocksThatBeginTogetherOverlapAll) {
  VariantRun graph(GetParam());
  for (unsigned i = 0; i < 30; ++i) graph.add(TaskShape::kAiv);
  const auto together = graph.add(Node{TaskShape::kAiv, {0}, 8, abi::kTaskCooperative});
  const auto mixed = graph.add(Node{TaskShape::kMixed, {1}, 4, abi::kTaskCooperative});
  for (unsigned i = 0; i < 30; ++i) graph.add(TaskShape::kAic, {together});
  graph.machine.duration = [](auto, auto) { return 20'000U; };
  expect_good(graph);
  for (const auto task : {together, mixed}) {
    std::uint64_t last_begin = 0, first_end = ~std::uint64_t{0};
    for (const auto& run : graph.runs_of(task)) {
      last_begin = std::max(last_begin, run.begin);
      first_end = std::min(first_end, run.end);
    }
    EXPECT_LT(last_begin, first_end);
  }
}

TEST_P(Graph, RandomGraphsKeepTheirOrder) {
  Random random(17 + GetParam().threads);
  for (unsigned round = 0; round < 4; ++round) {
    VariantRun graph(GetParam());
    graph.machine.duration = [&](auto, auto) { return 1 + random.below(3000); };
    for (std::uint32_t i = 0; i < 600; ++i) {
      Node node{static_cast<TaskShape>(random.below(4)), {}};
      if (random.below(8) == 0) node.blocks = 1 + random.below(20);
      for (unsigned p = random.below(4); i > 0 && p > 0; --p) {
        node.producers.push_back(random.below(i));
      }
      graph.add(node);
    }
    expect_good(graph);
  }
}

INSTANTIATE_TEST_SUITE_P(
    threads_and_handshakes, Graph,
    testing::Values(Variant{1, HandshakeKind::kRegister, 0},
                    Variant{2, HandshakeKind::kRegister, 0},
                    Variant{3, HandshakeKind::kRegister, 0},
                    Variant{4, HandshakeKind::kRegister, 0},
                    Variant{3, HandshakeKind::kRegister, abi::kRunSingleIssue},
                    Variant{1, HandshakeKind::kMemory, 0}, Variant{4, HandshakeKind::kMemory, 0}),
    [](const auto& variant) {
      return std::to_string(variant.param.threads) +
             (variant.param.handshake == HandshakeKind::kMemory ? "_memory" : "_register") +
             (variant.param.flags != 0 ? "_single" : "");
    });

// From the first block to the last, the first task's excepted.
std::uint64_t makespan(const GraphRun& graph) {
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  for (const auto& run : graph.machine.log) {
    if (run.task == 0) continue;
    begin = std::min(begin, run.begin);
    end = std::max(end, run.end);
  }
  return end - begin;
}

// Six tasks become ready at once, where one thread finds them: 48 blocks on 16 cores are 3 rounds.
TEST(ManyBlocks, ThatBecomeReadyAtOnceAreNotKeptFromIdleCoresOfOthers) {
  for (const unsigned threads : {1U, 2U, 3U, 4U}) {
    GraphRun graph(split_cores(8), threads);
    graph.add(TaskShape::kAiv);
    for (unsigned i = 0; i < 6; ++i) graph.add(Node{TaskShape::kAiv, {0}, 8, 0});
    graph.machine.duration = [](auto task, auto) { return task == 0 ? 50'000U : 30'000U; };
    ASSERT_EQ(static_cast<RunStatus>(graph.run().status), RunStatus::kOk);
    graph.expect_complete_and_in_order();
    EXPECT_LT(makespan(graph), 3 * 30'000 * 12 / 10) << threads << " threads";
  }
}

// Two tasks of each shape on eight cores that run all shapes: one round.
TEST(CoupledCores, AreCountedOnceForTasksOfAllShapes) {
  for (const unsigned threads : {1U, 4U}) {
    GraphRun graph(coupled_cores(8), threads);
    graph.add(TaskShape::kAiv);
    for (const auto shape : {TaskShape::kAic, TaskShape::kAiv, TaskShape::kMixed}) {
      for (unsigned i = 0; i < 2; ++i) graph.add(shape, {0});
    }
    graph.machine.duration = [](auto task, auto) { return task == 0 ? 50'000U : 30'000U; };
    ASSERT_EQ(static_cast<RunStatus>(graph.run().status), RunStatus::kOk);
    EXPECT_LT(makespan(graph), 30'000 * 12 / 10) << threads << " threads";
  }
}

// One thread finds all tasks, and mixed ones take the cores that it had for the others: one round.
TEST(MixedBlocks, LeaveNoTasksWaitingBehindThemWhileOthersHaveIdleCores) {
  for (const unsigned threads : {1U, 4U}) {
    GraphRun graph(split_cores(8), threads);
    graph.add(TaskShape::kAic);
    for (unsigned i = 0; i < 4; ++i) graph.add(TaskShape::kAiv, {0});
    for (unsigned i = 0; i < 2; ++i) graph.add(TaskShape::kMixed, {0});
    graph.machine.duration = [](auto task, auto) { return task == 0 ? 50'000U : 30'000U; };
    ASSERT_EQ(static_cast<RunStatus>(graph.run().status), RunStatus::kOk);
    graph.expect_complete_and_in_order();
    EXPECT_LT(makespan(graph), 30'000 * 12 / 10) << threads << " threads";
  }
}

// No thread keeps tasks for cores that it has not: 240 blocks on 16 cores are 15 rounds.
TEST(ManyBlocks, OfSeveralTasksKeepTheCoresOfAllThreadsBusy) {
  for (const unsigned threads : {1U, 3U, 4U}) {
    GraphRun graph(split_cores(8), threads);
    for (unsigned i = 0; i < 8; ++i) graph.add(Node{TaskShape::kAiv, {}, 30, 0});
    graph.machine.duration = [](auto, auto) { return 30'000U; };
    ASSERT_EQ(static_cast<RunStatus>(graph.run().status), RunStatus::kOk);
    std::uint64_t begin = ~std::uint64_t{0}, end = 0;
    for (const auto& run : graph.machine.log) {
      begin = std::min(begin, run.begin);
      end = std::max(end, run.end);
    }
    EXPECT_LT(end - begin, 15 * 30'000 * 11 / 10) << threads << " threads";
  }
}

TEST(BigGraph, EachOf65536TasksRunsAfterItsProducers) {
  GraphRun graph(split_cores(24), 4);
  Random random(5);
  graph.machine.duration = [&](auto, auto) { return 500 + random.below(5000); };
  for (std::uint32_t i = 0; i < 65'536; ++i) {
    Node node{random.below(2) == 0 ? TaskShape::kAic : TaskShape::kAiv, {}};
    for (unsigned p = random.below(3); i > 100 && p > 0; --p) {
      node.producers.push_back(i - 1 - random.below(100));
    }
    graph.add(node);
  }
  EXPECT_EQ(static_cast<RunStatus>(graph.run().status), RunStatus::kOk);
  graph.expect_complete_and_in_order();
}

}  // namespace
}  // namespace npu::test
