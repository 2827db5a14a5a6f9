// SPDX-License-Identifier: Apache-2.0
// Graphs that several streams run and update, also while a run is in flight.
#include "tests/driver/streams/graph_fixture.hpp"

namespace npu::driver {
namespace {

TEST_F(StreamGraphTest, AnUploadCopiesOnceAndBeforeTheRuns) {
  const auto stream = open();
  StreamGraph graph(*pool);
  capture(*stream, graph);
  ASSERT_THAT(stream->upload(graph), IsOk());
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(copies(), 1U);
  EXPECT_EQ(numbers(), Numbers{});
  const auto again = stream->upload(graph);
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->is_done());
  ASSERT_THAT(stream->run(graph), IsOk());
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(copies(), 1U);
  EXPECT_EQ(arguments(), (std::vector<std::uint64_t>{11, 12, 13, 15}));
}

// The run waits for what the other stream records behind its update.
TEST_F(StreamGraphTest, AnotherStreamUpdatesArgumentsOfARunInFlight) {
  const auto stream = open(), other = open();
  const auto event = process->signals().create();
  ASSERT_THAT(event, IsOk());
  StreamGraph graph(*pool);
  const auto wait = entries::wait_event(*event, 2);
  const auto second = numbered(LaunchCores::kVector, 2, 12);
  const auto with = [&second, this](std::uint64_t argument) {
    auto launch = second;  // of the same module
    launch.write = kernel(LaunchCores::kVector, argument).write;
    return launch;
  };
  ASSERT_THAT(stream->begin_capture(graph), IsOk());
  ASSERT_THAT(stream->launch(numbered(LaunchCores::kVector, 1, 11)), IsOk());
  ASSERT_THAT(stream->submit(&wait, 1), IsOk());
  ASSERT_THAT(stream->launch(second), IsOk());
  ASSERT_THAT(stream->end_capture(), IsOk());
  ASSERT_THAT(stream->upload(graph), IsOk());
  ASSERT_THAT(stream->run(graph), IsOk());
  EXPECT_THAT(other->update(graph, 1, numbered(LaunchCores::kVector, 3, 22)),
              FailsWith(ErrorCode::kBusy));
  EXPECT_THAT(other->update(graph, 1, numbered(LaunchCores::kCube, 2, 22)),
              FailsWith(ErrorCode::kBusy));
  EXPECT_THAT(other->update(graph, 2, with(22)), FailsWith(ErrorCode::kOutOfRange));
  for (const std::uint64_t value : {21, 22}) {  // the first one's copy has bytes of its own
    ASSERT_THAT(other->update(graph, 1, with(value)), IsOk());
  }
  const auto record = entries::record_event(*event, 2);
  ASSERT_THAT(other->submit(&record, 1), IsOk());
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(arguments(), (std::vector<std::uint64_t>{11, 22}));
  cp.forget_executed();
  ASSERT_THAT(other->update(graph, 1, numbered(LaunchCores::kCube, 4, 23)), IsOk());
  ASSERT_THAT(other->synchronize(in(10_ms)), IsOk());
  ASSERT_THAT(stream->run(graph), IsOk());
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(numbers(), (Numbers{1, 4}));
  EXPECT_EQ(arguments(), (std::vector<std::uint64_t>{11, 23}));
}

TEST_F(StreamGraphTest, AnotherStreamAddsUpdatesAndRuns) {
  auto first = open();
  const auto second = open();
  StreamGraph graph(*pool);
  ASSERT_THAT(first->begin_capture(graph), IsOk());
  ASSERT_THAT(first->launch(numbered(LaunchCores::kVector, 1, 11)), IsOk());
  ASSERT_THAT(first->end_capture(), IsOk());
  ASSERT_THAT(second->begin_capture(graph), IsOk());
  ASSERT_THAT(second->launch(numbered(LaunchCores::kCube, 2, 12)), IsOk());
  ASSERT_THAT(second->end_capture(), IsOk());
  ASSERT_THAT(first->run(graph), IsOk());
  ASSERT_THAT(first->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(arguments(), (std::vector<std::uint64_t>{11, 12}));
  first.reset();
  cp.forget_executed();
  ASSERT_THAT(second->begin_update(graph, 1), IsOk());
  ASSERT_THAT(second->launch(numbered(LaunchCores::kCube, 3, 13)), IsOk());
  ASSERT_THAT(second->end_capture(), IsOk());
  ASSERT_THAT(second->run(graph), IsOk());
  ASSERT_THAT(second->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(numbers(), (Numbers{1, 3}));
  EXPECT_EQ(arguments(), (std::vector<std::uint64_t>{11, 13}));
}

}  // namespace
}  // namespace npu::driver
