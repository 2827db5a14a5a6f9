// SPDX-License-Identifier: Apache-2.0
// What a core says, state by state: the four cases of two blocks on one core (runtime.md A2),
// and what the scheduler tells.

#include <gtest/gtest.h>

#include "firmware/aicpu/core_link.hpp"
#include "tests/unit/firmware/graph_run.hpp"

namespace npu::test {
namespace {

using abi::Cond;
using firmware::CoreLink;
using firmware::Seen;
using firmware::Work;
using firmware::Worker;

// A port onto memory and one core whose COND is scripted.
class ScriptedPort : public FakePort {
 public:
  explicit ScriptedPort(FakeMachine& machine) : FakePort(machine, 0) {}
  std::uint32_t load_register(unsigned, std::uint32_t) override { return cond; }
  void store_register(unsigned, std::uint32_t offset, std::uint32_t value) override {
    stores.push_back({offset, value});
  }
  std::uint32_t cond = Cond::kIdle;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stores;
};

class Link : public testing::Test {
 protected:
  explicit Link(std::uint32_t flags = 0) {
    graph.header.flags = flags;
    graph.place();
    run = std::make_unique<firmware::RunView>(port, graph.address);
    link = firmware::make_core_link(*run);
  }
  void send(std::uint32_t id, std::uint32_t task) {
    worker.last_dispatch = id;
    worker.work = worker.busy() ? Work::kRunningAndSent : Work::kSent;
    worker.newest() = {id, task, 0, 1, 0, run->payload(0, id)};
    link->ring(worker);
  }
  // What has ended when COND says this.
  std::vector<std::uint32_t> look(std::uint32_t cond) {
    port.cond = cond;
    std::vector<std::uint32_t> tasks;
    const std::uint32_t oldest = worker.oldest().task, newest = worker.newest().task;
    seen = link->look(worker);
    if (seen >= Seen::kEnded) tasks.push_back(oldest);
    if (seen == Seen::kBothEnded) tasks.push_back(newest);
    if (seen == Seen::kOldestEnded) worker.work = Work::kSent;
    if (seen == Seen::kBegun || seen == Seen::kOldestEndedNewestBegun) worker.work = Work::kRunning;
    if (seen == Seen::kEnded || seen == Seen::kBothEnded) worker.work = Work::kNone;
    return tasks;
  }
  using Tasks = std::vector<std::uint32_t>;

  GraphRun graph;
  ScriptedPort port{graph.machine};
  std::unique_ptr<firmware::RunView> run;
  std::unique_ptr<CoreLink> link;
  Worker worker;
  Seen seen = Seen::kNothing;
};

TEST_F(Link, NothingMayBePendingBeforeTheCoreHasSeenWhatWasSent) {
  send(1, 10);
  EXPECT_TRUE(link->can_pend());
  EXPECT_EQ(worker.work, Work::kSent);
  EXPECT_EQ(look(Cond::kIdle), Tasks{});
  EXPECT_EQ(worker.work, Work::kSent);
  EXPECT_EQ(look(1), Tasks{});  // ACK
  EXPECT_EQ(worker.work, Work::kRunning);
  EXPECT_EQ(port.stores.back(), std::make_pair(abi::DataMainBase::kOffset, 1U));
}

class TwoBlocks : public Link {
 protected:
  TwoBlocks() {
    send(1, 10);
    look(1);
    send(2, 20);
  }
};

TEST_F(TwoBlocks, PendingFinishedMeansBothHaveEndedInTheirOrder) {
  EXPECT_EQ(look(Cond::kFinished | 2), (Tasks{10, 20}));
  EXPECT_FALSE(worker.busy());
}

TEST_F(TwoBlocks, PendingBegunMeansTheRunningOneHasEnded) {
  EXPECT_EQ(look(2), Tasks{10});
  EXPECT_EQ(worker.work, Work::kRunning);
  EXPECT_EQ(worker.newest().task, 20U);
  EXPECT_EQ(look(Cond::kFinished | 2), Tasks{20});
}

TEST_F(TwoBlocks, RunningFinishedLeavesThePendingOneSent) {
  EXPECT_EQ(look(Cond::kFinished | 1), Tasks{10});
  EXPECT_EQ(worker.work, Work::kSent);
  EXPECT_EQ(worker.oldest().task, 20U);
  EXPECT_EQ(look(Cond::kFinished | 1), Tasks{});  // said before
  EXPECT_EQ(look(Cond::kFinished | 2), Tasks{20});
}

TEST_F(TwoBlocks, RunningBegunSaysNothingNew) {
  EXPECT_EQ(look(1), Tasks{});
  EXPECT_EQ(worker.work, Work::kRunningAndSent);
  EXPECT_EQ(worker.oldest().task, 10U);
}

TEST_F(Link, AnEndWithoutABeginningIsAnEnd) {
  send(1, 10);
  EXPECT_EQ(look(Cond::kFinished | 1), Tasks{10});
  EXPECT_FALSE(worker.busy());
}

TEST_F(Link, TheResultIsThatOfThePayloadOfTheDispatchId) {
  send(3, 10);
  abi::DispatchPayload payload;
  payload.result = 9;
  graph.machine.put(run->payload(0, 3), payload);
  port.cond = Cond::kFinished | 3;
  ASSERT_EQ(link->look(worker), Seen::kEnded);
  EXPECT_EQ(link->result(worker, worker.newest()), 9U);
  EXPECT_EQ(run->payload(0, 3), graph.header.payloads + sizeof payload);
}

class SingleIssue : public Link {
 protected:
  SingleIssue() : Link(abi::kRunSingleIssue) {}
};

TEST_F(SingleIssue, NothingIsEverPending) {
  send(1, 10);
  look(1);
  EXPECT_FALSE(link->can_pend());
}

TEST_F(Link, OpeningAndDismissingFollowTheProtocol) {
  using Store = std::pair<std::uint32_t, std::uint32_t>;
  link->open(worker);
  EXPECT_TRUE(link->answered(worker));
  link->dismiss(worker);
  port.cond = Cond::kExited;
  EXPECT_TRUE(link->left(worker));
  link->close(worker);
  const std::vector<Store> expected{
      {0x18, 0xE}, {0xA0, 0x7FFF'FFFD}, {0xA0, 0x7FFF'FFF0}, {0x18, 0xF}};
  EXPECT_EQ(port.stores, expected);
}

// The kernel, as it were: counts up the first byte of its tensor when a block ends.
TEST(Dump, CopiesLieBeforeTheFirstBlockAndAfterTheLast) {
  GraphRun graph(split_cores(2), 3);
  const auto task = graph.add(Node{TaskShape::kAiv, {}, 9, 0, -1, 10'000});
  const auto next = graph.add(Node{TaskShape::kAiv, {task}, 4, 0, -1, 10'000});
  graph.machine.result = [&](auto done) {
    auto* byte = static_cast<unsigned char*>(graph.machine.at(graph.dumps_of(done)[0].tensor, 1));
    ++*byte;
    return 0U;
  };
  ASSERT_EQ(static_cast<RunStatus>(graph.run().status), RunStatus::kOk);
  for (const auto which : {task, next}) {
    const auto dumps = graph.dumps_of(which);
    EXPECT_EQ(graph.machine.get<unsigned char>(dumps[0].copy), 0U);
    EXPECT_EQ(graph.machine.get<unsigned char>(dumps[1].copy), which == task ? 9U : 4U);
    for (const auto& run : graph.runs_of(which)) {
      EXPECT_LT(dumps[0].taken, run.begin);
      EXPECT_GT(dumps[1].taken, run.end);
    }
  }
  EXPECT_LT(graph.dumps_of(task)[1].taken, graph.dumps_of(next)[0].taken);
  EXPECT_GT(graph.result().dump_ticks, 0U);
}

TEST(Dump, CopiesThatTakeLongerThanTheWatchdogAreProgress) {
  for (const unsigned threads : {1U, 3U}) {
    GraphRun graph(split_cores(2), threads);
    std::uint32_t last = graph.add(TaskShape::kAiv);
    for (unsigned i = 0; i < 3; ++i) {
      last = graph.add(Node{TaskShape::kAiv, {last}, 1, 0, -1, 4'000'000});
    }
    const auto result = graph.run();
    EXPECT_EQ(static_cast<RunStatus>(result.status), RunStatus::kOk) << threads;
    EXPECT_GT(result.dump_ticks, 3 * graph.header.watchdog_ns);
  }
}

TEST(Profile, ARecordPerBlockHasItsTimesInOrder) {
  GraphRun graph(split_cores(2), 2);
  graph.header.flags = abi::kRunProfile;
  graph.header.record_count = 16;
  for (std::uint32_t i = 0; i < 5; ++i) graph.add(Node{TaskShape::kAiv, {}, 2, 0});
  ASSERT_EQ(static_cast<RunStatus>(graph.run().status), RunStatus::kOk);
  for (std::uint32_t i = 0; i < 10; ++i) {
    const auto r =
        graph.machine.get<abi::TaskRecord>(graph.header.records + i * sizeof(abi::TaskRecord));
    EXPECT_NE(r.dispatch, 0U);
    EXPECT_TRUE(0 < r.ready && r.ready < r.sent && r.sent < r.begun && r.begun < r.ended &&
                r.ended < r.seen)
        << i;
  }
}

TEST(Profile, BlocksBeyondTheLastRecordRunWithoutOne) {
  GraphRun graph(split_cores(2), 1);
  graph.header.flags = abi::kRunProfile;
  graph.header.record_count = 2;
  for (std::uint32_t i = 0; i < 5; ++i) graph.add(TaskShape::kAiv);
  EXPECT_EQ(static_cast<RunStatus>(graph.run().status), RunStatus::kOk);
}

}  // namespace
}  // namespace npu::test
