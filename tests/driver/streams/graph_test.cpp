// SPDX-License-Identifier: Apache-2.0
// Graphs of streams: captured work runs again and again in its order, with few doorbells, and with
// the arguments of its last update.
#include <cstring>
#include <deque>
#include <random>

#include "tests/driver/streams/graph_fixture.hpp"

namespace npu::driver {
namespace {

TEST_F(StreamGraphTest, NothingRunsBeforeARunAndThenEverythingInItsOrder) {
  const auto stream = open();
  StreamGraph graph(*pool);
  capture(*stream, graph);
  EXPECT_EQ(graph.launches(), 4U);
  EXPECT_EQ(graph.entries(), 5U);
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(numbers(), Numbers{});
  for (int i = 0; i < 3; ++i) ASSERT_THAT(stream->run(graph), IsOk());
  fill(*stream, 6);
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(numbers(), (Numbers{1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(copies(), 1U) << "arguments stay on the card";
  EXPECT_EQ(arguments(),
            (std::vector<std::uint64_t>{11, 12, 13, 15, 11, 12, 13, 15, 11, 12, 13, 15}));
}

TEST_F(StreamGraphTest, ARunHasADoorbellForEachKindOfCores) {
  const auto stream = open();
  StreamGraph graph(*pool);
  capture(*stream, graph);
  ASSERT_THAT(stream->run(graph), IsOk());
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(doorbells_in([&] { ASSERT_THAT(stream->run(graph), IsOk()); }), 2U);
  EXPECT_EQ(doorbells_in([&] {
              ASSERT_THAT(stream->launch(numbered(LaunchCores::kVector, 7)), IsOk());
              ASSERT_THAT(stream->launch(numbered(LaunchCores::kCube, 8)), IsOk());
              ASSERT_THAT(stream->launch(numbered(LaunchCores::kVector, 9)), IsOk());
            }),
            3U);
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
}

TEST_F(StreamGraphTest, AnUpdateReplacesLaunchesAndCopiesWhatHasChanged) {
  const auto stream = open();
  StreamGraph graph(*pool);
  capture(*stream, graph);
  ASSERT_THAT(stream->run(graph), IsOk());
  ASSERT_THAT(stream->begin_update(graph, 1), IsOk());
  ASSERT_THAT(stream->launch(numbered(LaunchCores::kVector, 20, 22)), IsOk());
  auto longer = numbered(LaunchCores::kCube, 30, 33);
  longer.bytes = 1000;  // more than it was captured with
  ASSERT_THAT(stream->launch(longer), IsOk());
  ASSERT_THAT(stream->end_capture(), IsOk());
  cp.forget_executed();
  for (int i = 0; i < 2; ++i) ASSERT_THAT(stream->run(graph), IsOk());
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(numbers(), (Numbers{1, 20, 30, 4, 5, 1, 20, 30, 4, 5}));
  EXPECT_EQ(copies(), 1U);
  EXPECT_EQ(arguments(), (std::vector<std::uint64_t>{11, 22, 33, 15, 11, 22, 33, 15}));
}

TEST_F(StreamGraphTest, AnUpdateWaitsForTheLastRun) {
  const auto stream = open();
  StreamGraph graph(*pool);
  capture(*stream, graph);
  hold(*stream);
  const auto run = must(stream->run(graph));
  const auto later = std::move(*fake.tasks().spawn("release", [this] {
    pass(2_ms);
    release();
  }));
  EXPECT_FALSE(run.is_done());
  ASSERT_THAT(stream->begin_update(graph, 0), IsOk());
  EXPECT_TRUE(run.is_done());
  ASSERT_THAT(stream->end_capture(), IsOk());
  later->join();
}

// Several rings full of entries, on both kinds of cores.
TEST_F(StreamGraphTest, AGraphMayBeLongerThanARing) {
  for (const unsigned log2_entries : {8U, 12U}) {
    cp.forget_executed();
    ExecutionStreamOptions options;
    options.log2_entries = log2_entries;
    const auto stream = must(ExecutionStream::open(*process, *pool, options));
    StreamGraph graph(*pool);
    Numbers wanted;
    std::mt19937 random(7);
    ASSERT_THAT(stream->begin_capture(graph), IsOk());
    for (std::uint32_t i = 1; i <= 1500; ++i) {
      const auto kind = random() % 4 == 0 ? LaunchCores::kCube : LaunchCores::kVector;
      ASSERT_THAT(stream->launch(numbered(kind, i, i)), IsOk());
      wanted.push_back(i);
    }
    ASSERT_THAT(stream->end_capture(), IsOk());
    std::vector<QueueTicket> tickets;
    const auto doorbells = doorbells_in([&] { ASSERT_THAT(stream->run(graph, &tickets), IsOk()); });
    ASSERT_THAT(stream->synchronize(in(1'000_ms)), IsOk());
    EXPECT_EQ(numbers(), wanted);
    if (log2_entries == 12) {
      EXPECT_EQ(doorbells, 2U);
    }
    ASSERT_EQ(tickets.size(), 1500U);
    for (const auto& executed : cp.executed()) {
      if (executed.entry.opcode != static_cast<std::uint8_t>(abi::QueueOpcode::kLaunchAiCore))
        continue;
      const auto& ticket = tickets[executed.entry.get<abi::LaunchPayload>().blocks - 1];
      EXPECT_EQ(ticket.index, executed.index);
      EXPECT_EQ(ticket.queue.value, executed.queue);
    }
  }
}

TEST_F(StreamGraphTest, AGraphMayEndBeforeItsRun) {
  const auto stream = open();
  {
    StreamGraph graph(*pool);
    capture(*stream, graph);
    hold(*stream);
    ASSERT_THAT(stream->run(graph), IsOk());
  }
  StreamGraph other(*pool);  // whose arguments are elsewhere
  ASSERT_THAT(stream->begin_capture(other), IsOk());
  ASSERT_THAT(stream->launch(numbered(LaunchCores::kVector, 9, 99)), IsOk());
  ASSERT_THAT(stream->end_capture(), IsOk());
  ASSERT_THAT(stream->run(other), IsOk());
  release();
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(arguments(), (std::vector<std::uint64_t>{11, 12, 13, 15, 99}));
}

// Whether copies of the run that has failed have been made is not known.
TEST_F(StreamGraphTest, ARunBehindOneThatHasFailedCopiesAllArguments) {
  const auto stream = open(StreamErrorMode::kStop);
  StreamGraph graph(*pool);
  capture(*stream, graph);
  const auto bad = entries::fill({}, 4, 0);
  ASSERT_THAT(stream->submit(&bad, 1), IsOk());
  ASSERT_THAT(stream->run(graph), IsOk());
  const auto fault = stream->synchronize(in(10_ms));
  ASSERT_THAT(fault, IsOk());
  ASSERT_TRUE(*fault);
  cp.forget_executed();
  ASSERT_THAT(stream->run(graph), IsOk());
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(numbers(), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(arguments(), (std::vector<std::uint64_t>{11, 12, 13, 15}));
}

TEST_F(StreamGraphTest, WhatCannotBeCapturedIsRefused) {
  const auto stream = open(), other = open();
  StreamGraph graph(*pool), empty(*pool);
  EXPECT_THAT(stream->run(empty), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(stream->end_capture(), FailsWith(ErrorCode::kInvalidArgument));
  const auto before = must(record(*other));
  ASSERT_THAT(stream->begin_capture(graph), IsOk());
  EXPECT_THAT(stream->begin_capture(empty), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(record(*stream), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(stream->wait_for(before), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(stream->run(graph), FailsWith(ErrorCode::kInvalidArgument)) << "it is being captured";
  ASSERT_THAT(stream->launch(numbered(LaunchCores::kMixed, 1, 1)), IsOk());
  EXPECT_THAT(other->run(graph), FailsWith(ErrorCode::kInvalidArgument)) << "it is being captured";
  EXPECT_THAT(other->begin_capture(graph), FailsWith(ErrorCode::kInvalidArgument));
  ASSERT_THAT(stream->end_capture(), IsOk());
  ArgumentPool of_others(*process);
  StreamGraph foreign(of_others);
  EXPECT_THAT(stream->begin_capture(foreign), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(stream->begin_update(graph, 1), FailsWith(ErrorCode::kOutOfRange));
  ASSERT_THAT(stream->begin_update(graph, 0), IsOk());
  const auto entry = entries::fill(memory(), 4, 0);
  EXPECT_THAT(stream->submit(&entry, 1), FailsWith(ErrorCode::kUnsupported));
  ASSERT_THAT(stream->launch(numbered(LaunchCores::kMixed, 2, 2)), IsOk());
  EXPECT_THAT(stream->launch(numbered(LaunchCores::kMixed, 3, 3)),
              FailsWith(ErrorCode::kOutOfRange));
  ASSERT_THAT(stream->end_capture(), IsOk());
  stream->close(fake.scheduler.now());
  EXPECT_THAT(stream->run(graph), FailsWith(ErrorCode::kAborted));
  EXPECT_THAT(stream->begin_capture(graph), FailsWith(ErrorCode::kAborted));
}

// Two graphs, updates, and launches between the runs, at random.
class StreamGraphRandomTest : public StreamGraphTest, public testing::WithParamInterface<unsigned> {
 protected:
  struct Captured {
    explicit Captured(ArgumentPool& pool) : graph(pool) {}
    StreamGraph graph;
    Numbers blocks;
    std::vector<std::uint64_t> arguments;
  };

  std::uint32_t any(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  KernelLaunch some() {
    auto launch = numbered(static_cast<LaunchCores>(any(3)), ++number_, any(1000));
    launch.bytes = any(3) == 0 ? 8 + 8 * any(100) : 8;
    const std::uint64_t argument = argument_ = any(1'000'000);
    launch.write = [argument](ByteSpan host, DeviceAddress) -> Status {
      std::memcpy(host.data, &argument, sizeof argument);
      return {};
    };
    return launch;
  }
  void capture(ExecutionStream& stream, Captured& captured) {
    ASSERT_THAT(stream.begin_capture(captured.graph), IsOk());
    for (unsigned left = 1 + any(20); left > 0; --left) {
      ASSERT_THAT(stream.launch(some()), IsOk());
      captured.blocks.push_back(number_);
      captured.arguments.push_back(argument_);
    }
    ASSERT_THAT(stream.end_capture(), IsOk());
  }
  void update(ExecutionStream& stream, Captured& captured) {
    const auto first = any(static_cast<std::uint32_t>(captured.blocks.size()));
    ASSERT_THAT(stream.begin_update(captured.graph, first), IsOk());
    for (std::size_t i = first; i < captured.blocks.size() && any(4) != 0; ++i) {
      ASSERT_THAT(stream.launch(some()), IsOk());
      captured.blocks[i] = number_;
      captured.arguments[i] = argument_;
    }
    ASSERT_THAT(stream.end_capture(), IsOk());
  }

 private:
  std::mt19937 random_{GetParam()};
  std::uint32_t number_ = 0;
  std::uint64_t argument_ = 0;
};

TEST_P(StreamGraphRandomTest, RunsAreWhatWasCapturedAndUpdatedLast) {
  const auto stream = open();
  std::deque<Captured> all;
  for (int i = 0; i < 2; ++i) capture(*stream, all.emplace_back(*pool));
  Numbers wanted;
  for (unsigned step = 0; step < 60; ++step) {
    auto& one = all[any(2)];
    const auto action = any(10);
    if (action == 0) {
      capture(*stream, one);
    } else if (action < 4) {
      update(*stream, one);
    } else if (action < 6) {
      const auto launch = some();
      ASSERT_THAT(stream->launch(launch), IsOk());
      wanted.push_back(launch.blocks);
    } else {
      ASSERT_THAT(stream->run(one.graph), IsOk());
      wanted.insert(wanted.end(), one.blocks.begin(), one.blocks.end());
    }
  }
  ASSERT_THAT(stream->synchronize(in(1'000_ms)), IsOk());
  EXPECT_EQ(numbers(), wanted);
  for (auto& one : all) {
    cp.forget_executed();
    ASSERT_THAT(stream->run(one.graph), IsOk());
    ASSERT_THAT(stream->synchronize(in(1'000_ms)), IsOk());
    EXPECT_EQ(arguments(), one.arguments);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, StreamGraphRandomTest, testing::Range(0U, 40U));

}  // namespace
}  // namespace npu::driver
