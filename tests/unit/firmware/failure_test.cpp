// SPDX-License-Identifier: Apache-2.0
// Runs that cannot end well: each ends within the watchdog's time, names what was wrong, and sends
// away every core that answers.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/firmware/graph_run.hpp"

namespace npu::test {
namespace {

using abi::StallReason;

class Failure : public testing::TestWithParam<unsigned> {
 protected:
  static StallReason reason(const abi::RunResult& result) {
    return static_cast<StallReason>(result.reason);
  }
  static RunStatus status(const abi::RunResult& result) {
    return static_cast<RunStatus>(result.status);
  }
  static long cores_left(const GraphRun& graph) {
    return std::count_if(graph.machine.cores.begin(), graph.machine.cores.end(),
                         [](const FakeCore& core) { return !core.exited; });
  }
  GraphRun graph{split_cores(4), GetParam()};
};

TEST_P(Failure, ACycleIsFoundAndOneOfItsTasksNamed) {
  graph.add(TaskShape::kAiv);                                     // 0
  const auto a = graph.add(Node{TaskShape::kAiv, {0, 3}, 1, 0});  // 1 waits for 3
  const auto b = graph.add(TaskShape::kAic, {a});                 // 2
  const auto c = graph.add(TaskShape::kAiv, {b});                 // 3
  graph.add(TaskShape::kAiv, {c});                                // 4 behind the cycle
  const auto result = graph.run();
  EXPECT_EQ(status(result), RunStatus::kTimeout);
  EXPECT_EQ(reason(result), StallReason::kWaiting);
  EXPECT_EQ(result.completed, 1U);
  EXPECT_EQ(result.waiting, 4U);
  EXPECT_TRUE(result.task >= a && result.task <= c) << result.task;
  const std::uint32_t before[] = {c, a, b};
  EXPECT_EQ(result.waits_for, before[result.task - a]);
  EXPECT_EQ(cores_left(graph), 0);
}

TEST_P(Failure, AKernelThatNeverEndsIsNamedWithItsCore) {
  graph.add(TaskShape::kAic);
  const auto hung = graph.add(TaskShape::kAiv, {0});
  graph.add(TaskShape::kAiv, {hung});
  graph.machine.duration = [&](auto task, auto) { return task == hung ? kHang : 1000; };
  const auto result = graph.run();
  EXPECT_EQ(status(result), RunStatus::kTimeout);
  EXPECT_EQ(reason(result), StallReason::kRunning);
  EXPECT_EQ(result.task, hung);
  EXPECT_EQ(result.worker, graph.runs_of(hung)[0].worker);
  EXPECT_EQ(result.physical_core, result.worker);
  EXPECT_EQ(result.cond >> 31, 0U);  // it has begun
  EXPECT_EQ(result.running, 1U);
  EXPECT_EQ(result.waiting, 1U);
  EXPECT_EQ(cores_left(graph), 1);
}

// Wherever in the watchdog's own round the last task ends: the result is written, and every core
// that answers sent away, before its time is over; and not long before.
TEST_P(Failure, TheDiagnosisIsThereWhenTheWatchdogsTimeIsOver) {
  for (std::uint32_t last_end = 40'000; last_end < 52'000; last_end += 1000) {
    GraphRun late(split_cores(4), GetParam());
    late.header.watchdog_ns = 100'000;
    late.add(TaskShape::kAiv);
    const auto hung = late.add(TaskShape::kAiv, {0});
    late.machine.duration = [&](auto task, auto) { return task == hung ? kHang : last_end; };
    const auto result = late.run();
    EXPECT_EQ(reason(result), StallReason::kRunning);
    const std::uint64_t ended = late.runs_of(0)[0].end;
    EXPECT_LT(result.ended - ended, 100'000U) << last_end;
    EXPECT_GT(result.finished - ended, 80'000U) << last_end;
  }
}

TEST_P(Failure, AGraphThatIsNotWiredInTimeIsTheOrchestrators) {
  constexpr std::uint32_t kTasks = 20'000;
  for (std::uint32_t i = 0; i < kTasks; ++i) {
    graph.add(TaskShape::kAiv, i + 1 < kTasks ? std::vector<std::uint32_t>{kTasks - 1}
                                              : std::vector<std::uint32_t>{});
  }
  const auto result = graph.run();
  EXPECT_EQ(status(result), RunStatus::kTimeout);
  EXPECT_EQ(reason(result), StallReason::kOrchestrator);
  EXPECT_GT(result.unwired, 0U);
  EXPECT_EQ(result.task, kTasks - result.unwired) << "the first that is not wired";
  EXPECT_EQ(result.waiting, result.task);
  EXPECT_EQ(cores_left(graph), 0);
}

TEST_P(Failure, SlowProgressIsProgress) {
  std::uint32_t last = graph.add(TaskShape::kAiv);
  for (unsigned i = 0; i < 10; ++i) last = graph.add(TaskShape::kAiv, {last});
  graph.machine.duration = [](auto, auto) { return 80'000U; };
  EXPECT_EQ(status(graph.run()), RunStatus::kOk);
}

TEST_P(Failure, TasksForWhichThereIsNoCoreAreReadyForEver) {
  GraphRun vector_only(std::vector<CoreType>(4, CoreType::kAiv), GetParam());
  vector_only.add(TaskShape::kAiv);
  const auto stuck = vector_only.add(TaskShape::kAic);
  const auto result = vector_only.run();
  EXPECT_EQ(status(result), RunStatus::kTimeout);
  EXPECT_EQ(reason(result), StallReason::kReady);
  EXPECT_EQ(result.task, stuck);
  EXPECT_EQ(result.ready, 1U);
}

TEST_P(Failure, AKernelThatFailsEndsTheRun) {
  for (unsigned i = 0; i < 5; ++i) graph.add(TaskShape::kAic);
  const auto bad = graph.add(TaskShape::kAiv, {2});
  const auto after = graph.add(TaskShape::kAiv, {bad});
  graph.machine.result = [&](auto task) { return task == bad ? 42U : 0U; };
  const auto result = graph.run();
  EXPECT_EQ(status(result), RunStatus::kKernelFailed);
  EXPECT_EQ(result.task, bad);
  EXPECT_EQ(result.detail, 42U);
  EXPECT_EQ(result.worker, graph.runs_of(bad)[0].worker);
  EXPECT_TRUE(graph.runs_of(after).empty());
  EXPECT_EQ(cores_left(graph), 0);
}

// Kernels of all threads fail in the same sweep: the result is of one of them, in all its parts.
TEST_P(Failure, KernelsThatFailAtTheSameTimeAreNotMixedUp) {
  const unsigned count = 8;
  for (unsigned i = 0; i < count; ++i) graph.add(TaskShape::kAiv);
  graph.add(TaskShape::kAiv, {0, 1, 2, 3, 4, 5, 6, 7});
  graph.machine.duration = [](auto, auto) { return 20'000U; };
  graph.machine.result = [](auto task) { return 40 + task; };
  const auto result = graph.run();
  EXPECT_EQ(status(result), RunStatus::kKernelFailed);
  ASSERT_LT(result.task, count);
  EXPECT_EQ(result.detail, 40 + result.task);
  EXPECT_EQ(result.worker, graph.runs_of(result.task)[0].worker);
  EXPECT_EQ(result.physical_core, result.worker);
  EXPECT_TRUE(graph.runs_of(count).empty());
  EXPECT_EQ(cores_left(graph), 0);
}

TEST_P(Failure, ACoreThatStopsIsFoundBeforeTheWatchdogEnds) {
  graph.add(TaskShape::kAic);
  const auto bad = graph.add(TaskShape::kAiv, {0});
  graph.machine.exception = [&](auto task) { return task == bad ? 0x17U : 0U; };
  const auto result = graph.run();
  EXPECT_EQ(status(result), RunStatus::kCoreException);
  EXPECT_EQ(result.task, bad);
  EXPECT_EQ(result.detail, 0x17U);
  EXPECT_EQ(result.worker, graph.runs_of(bad)[0].worker);
  EXPECT_LT(result.finished - graph.runs_of(bad)[0].begin, 60'000U);
  EXPECT_EQ(cores_left(graph), 1);
}

TEST_P(Failure, ACoreThatNeverComesIsNamedAndTheOthersAreSentAway) {
  graph.machine.cores[5].missing = true;
  graph.add(TaskShape::kAiv);
  const auto result = graph.run();
  EXPECT_EQ(status(result), RunStatus::kCoreMissing);
  EXPECT_EQ(result.worker, 5U);
  EXPECT_TRUE(graph.machine.log.empty());
  EXPECT_EQ(cores_left(graph), 1);
  EXPECT_LT(result.ended - result.started, 100'000U);
}

TEST_P(Failure, WithoutACoreTheOthersAreSentAwayWithTheMemoryHandshakeToo) {
  graph.header.handshake = static_cast<std::uint32_t>(abi::HandshakeKind::kMemory);
  graph.machine.cores[2].missing = true;
  graph.add(TaskShape::kAiv);
  const auto result = graph.run();
  EXPECT_EQ(status(result), RunStatus::kCoreMissing);
  EXPECT_EQ(result.worker, 2U);
  EXPECT_EQ(cores_left(graph), 1);
}

TEST_P(Failure, TooManyBlocksThatBeginTogetherAreRefused) {
  graph.add(Node{TaskShape::kAiv, {}, 8, abi::kTaskCooperative});
  const auto wide = graph.add(Node{TaskShape::kAiv, {0}, 9, abi::kTaskCooperative});
  const auto result = graph.run();
  EXPECT_EQ(status(result), RunStatus::kNotCoresident);
  EXPECT_EQ(result.task, wide);
  EXPECT_TRUE(graph.runs_of(wide).empty());
}

INSTANTIATE_TEST_SUITE_P(threads, Failure, testing::Values(1U, 3U, 4U));

TEST(AbsentThread, DoesNotKeepTheRunFromEnding) {
  for (const unsigned absent : {1U, 3U}) {
    GraphRun graph(split_cores(4), 4);
    for (unsigned i = 0; i < 20; ++i) graph.add(TaskShape::kAiv);
    graph.machine.absent_threads = {absent};
    EXPECT_EQ(static_cast<RunStatus>(graph.run().status), RunStatus::kOk);
    for (const auto& core : graph.machine.cores) EXPECT_TRUE(core.exited);
  }
}

class Malformed : public testing::Test {
 protected:
  abi::RunResult run_spoilt(void (*spoil)(abi::RunHeader&)) {
    graph.add(TaskShape::kAiv);
    graph.place();
    spoil(graph.header);
    graph.machine.put(graph.address, graph.header);
    graph.machine.run(graph.address);
    return graph.result();
  }
  abi::RunResult run_spoilt(void (*spoil)(abi::TaskDescriptor&)) {
    graph.add(TaskShape::kAiv);
    graph.add(TaskShape::kAiv, {0});
    graph.place();
    const auto address = graph.header.descriptors + sizeof(abi::TaskDescriptor);
    auto task = graph.machine.get<abi::TaskDescriptor>(address);
    spoil(task);
    graph.machine.put(address, task);
    graph.machine.run(graph.address);
    return graph.result();
  }
  GraphRun graph;
};

TEST_F(Malformed, HeadersAreRefused) {
  void (*const spoilers[])(abi::RunHeader&) = {
      [](abi::RunHeader& h) { h.magic ^= 1; },
      [](abi::RunHeader& h) { h.version = 2; },
      [](abi::RunHeader& h) { h.tasks = abi::kMaxTasks + 1; },
      [](abi::RunHeader& h) { h.workers = 0; },
      [](abi::RunHeader& h) { h.workers = abi::kMaxWorkers + 1; },
      [](abi::RunHeader& h) { h.threads = 2; },
      [](abi::RunHeader& h) { h.handshake = 2; },
      [](abi::RunHeader& h) { h.scratch_bytes -= 1; },
      [](abi::RunHeader& h) { h.scratch += 4; },
      [](abi::RunHeader& h) { h.watchdog_ns = 0; },
  };
  for (auto* const spoil : spoilers) {
    Malformed_HeadersAreRefused_Test fresh;
    const auto result = fresh.run_spoilt(spoil);
    EXPECT_EQ(static_cast<RunStatus>(result.status), RunStatus::kBadHeader);
    EXPECT_TRUE(fresh.graph.machine.log.empty());
  }
}

TEST_F(Malformed, DescriptorsAreRefusedByName) {
  void (*const spoilers[])(abi::TaskDescriptor&) = {
      [](abi::TaskDescriptor& t) { t.blocks = 0; },
      [](abi::TaskDescriptor& t) { t.blocks = abi::kMaxTaskBlocks + 1; },
      [](abi::TaskDescriptor& t) { t.shape = 4; },
      [](abi::TaskDescriptor& t) { t.flags = 2; },
      [](abi::TaskDescriptor& t) { t.words = abi::kMaxTaskWords + 1; },
      [](abi::TaskDescriptor& t) { t.words = 1; },  // without an address
      [](abi::TaskDescriptor& t) { t.kernel = 0; },
      [](abi::TaskDescriptor& t) { t.producers = 2; },  // beyond the list
      [](abi::TaskDescriptor& t) { t.first_producer = 1; },
      [](abi::TaskDescriptor& t) { t.dumps = 1; },  // there are none
  };
  for (auto* const spoil : spoilers) {
    Malformed_DescriptorsAreRefusedByName_Test fresh;
    const auto result = fresh.run_spoilt(spoil);
    EXPECT_EQ(static_cast<RunStatus>(result.status), RunStatus::kBadHeader);
    EXPECT_EQ(result.task, 1U);
    EXPECT_TRUE(fresh.graph.runs_of(1).empty());
  }
}

TEST_F(Malformed, AProducerThatIsNoTaskIsRefused) {
  graph.add(TaskShape::kAiv);
  graph.add(TaskShape::kAiv, {2});
  const auto result = graph.run();
  EXPECT_EQ(static_cast<RunStatus>(result.status), RunStatus::kBadHeader);
  EXPECT_EQ(result.task, 1U);
}

}  // namespace
}  // namespace npu::test
