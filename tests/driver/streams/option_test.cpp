// SPDX-License-Identifier: Apache-2.0
// What the options of a stream make of its queues.
#include "driver/queue/process_impl.hpp"
#include "driver/support/impl_of.hpp"
#include "tests/driver/streams/stream_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class StreamOptionTest : public StreamTest {
 protected:
  std::unique_ptr<ExecutionStream> open_with(const ExecutionStreamOptions& options) {
    auto opened = ExecutionStream::open(*process, *pool, options);
    EXPECT_THAT(opened, IsOk());
    return std::move(*opened);
  }
};

TEST_F(StreamOptionTest, APreparedQueueIsNotMadeByTheLaunch) {
  const auto stream = open_with({});
  const auto before = process->queue_count();
  ASSERT_THAT(stream->prepare(LaunchCores::kCube), IsOk());
  const auto prepared = process->queue_count();
  ASSERT_THAT(stream->launch(kernel(LaunchCores::kCube, 1)), IsOk());
  EXPECT_EQ(prepared, before + 1);
  EXPECT_EQ(process->queue_count(), prepared);
}

TEST_F(StreamOptionTest, AClosedStreamPreparesNothing) {
  const auto stream = open_with({});
  stream->close(in(1_ms));
  EXPECT_THAT(stream->prepare(LaunchCores::kCube), FailsWith(ErrorCode::kAborted));
}

// Without a save area a kernel runs to its end.
TEST_F(StreamOptionTest, KernelsOfAStreamThatIsNotPreemptibleRunToTheirEnd) {
  ExecutionStreamOptions options;
  options.preemptible = false;
  const auto stream = open_with(options);
  const auto queues = must(process->snapshot());
  ASSERT_EQ(queues.size(), 1U);
  const auto at = impl_of(*process).manager.descriptor_address(queues.front().id.value);
  std::uint64_t area = 1;
  card.memory().read(at + offsetof(abi::QueueDescriptor, save_area), &area, sizeof area);
  EXPECT_EQ(area, 0U);
}

// Records and waits go out with the launches.
TEST_F(StreamOptionTest, AChangeOfCoresRingsNoDoorbellOfItsOwn) {
  const auto stream = open_with({});
  ASSERT_THAT(stream->prepare(LaunchCores::kCube), IsOk());
  const auto rung = [this] {
    const auto queues = process->snapshot();
    std::uint64_t doorbells = 0;
    for (const auto& queue : *queues) doorbells += queue.doorbells;
    return doorbells;
  };
  const auto before = rung();
  for (const auto cores : {LaunchCores::kVector, LaunchCores::kCube, LaunchCores::kVector}) {
    ASSERT_THAT(stream->launch(kernel(cores, 1)), IsOk());
  }
  ASSERT_THAT(stream->synchronize(in(10_ms)), IsOk());
  EXPECT_EQ(rung(), before + 3);
}

TEST_F(StreamOptionTest, ASubmissionHasRoomForItsWaitAndItsRecord) {
  const auto stream = open_with({});
  ASSERT_THAT(stream->launch(kernel(LaunchCores::kCube, 1)), IsOk());
  ASSERT_THAT(stream->launch(kernel(LaunchCores::kVector, 1)), IsOk());
  std::vector<abi::QueueEntry> most(ExecutionStream::kMostEntries, entries::nop());
  EXPECT_THAT(stream->submit(most.data(), most.size()), IsOk());
  EXPECT_THAT(stream->synchronize(in(10_ms)), IsOk());
  most.push_back(entries::nop());
  EXPECT_THAT(stream->submit(most.data(), most.size()), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(stream->submit(most.data(), 0), FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(StreamOptionTest, RingsHaveAtLeast256Places) {
  ExecutionStreamOptions options;
  options.log2_entries = 7;
  EXPECT_THAT(ExecutionStream::open(*process, *pool, options),
              FailsWith(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace npu::driver
