// SPDX-License-Identifier: Apache-2.0
// One device, one queue, one stream, used by many tasks.
#include <atomic>

#include "tests/driver/threads/crowd_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using SharedDeviceTest = CrowdTest;

// A stream's number is another's as soon as it is destroyed, also for who has just been told that
// his command is done.
TEST_F(SharedDeviceTest, StreamsAreRecycledWhileTheirUsersLeave) {
  std::atomic<std::uint16_t> current{stream.value};
  begin(1, [&](unsigned) {
    for (int i = 0; i < 30; ++i) {
      const auto gone = device->destroy_stream(StreamId{current.load()}, in(10_ms));
      const auto made = must(device->create_stream({}));
      if (!gone) static_cast<void>(device->destroy_stream(made, in(10_ms)));
      if (gone) current.store(made.value);
      pass(3_us);
    }
  });
  begin(kCrowd, [&](unsigned) {
    for (int i = 0; i < 40; ++i) static_cast<void>(copy(StreamId{current.load()}));
  });
  join();
  EXPECT_THAT(copy(StreamId{current.load()}), IsOk());
}

TEST_F(SharedDeviceTest, CountersMayBeReadWhileTheFirstProcessOpens) {
  std::atomic<unsigned> opened{0};
  begin(kCrowd, [&](unsigned i) {
    if (i % 2 == 0) {
      pass(5_us);
      const auto process = open_process();
      opened.fetch_add(process != nullptr ? 1U : 0U);
      return;
    }
    for (int n = 0; n < 20; ++n) {
      EXPECT_LE(queue_statistics(*device).pasids, kCrowd);
      EXPECT_TRUE(take_stray_faults(*device).empty());
      pass(1_us);
    }
  });
  join();
  EXPECT_EQ(opened.load(), kCrowd / 2);
  EXPECT_EQ(queue_statistics(*device).pasids, 0U);
}

TEST_F(SharedDeviceTest, EveryTaskCopiesOnOneStream) {
  crowd([&](unsigned) {
    for (int i = 0; i < 20; ++i) EXPECT_THAT(copy(stream), IsOk());
  });
  EXPECT_EQ(card.executed().size(), 20 * kCrowd);
}

TEST_F(SharedDeviceTest, EveryTaskSubmitsToOneQueue) {
  const auto process = open_process();
  const auto queue = must(process->create_queue());
  crowd([&](unsigned i) {
    const auto policy = i % 2 == 0 ? WaitPolicy::kAdaptive : WaitPolicy::kInterrupt;
    for (int n = 0; n < 20; ++n) {
      const auto ticket = must(queue->submit(entries::nop(), in(1_ms)));
      EXPECT_THAT(queue->wait(ticket, policy, in(100_ms)), IsOk());
    }
  });
  EXPECT_EQ(card.queues().executed().size(), 20 * kCrowd);
}

TEST_F(SharedDeviceTest, EveryTaskHasAProcessOfItsOwn) {
  crowd([&](unsigned) {
    for (int n = 0; n < 3; ++n) {
      const auto process = open_process();
      const auto queue = must(process->create_queue());
      const auto ticket = must(queue->submit(entries::nop(), in(1_ms)));
      EXPECT_THAT(queue->wait(ticket, WaitPolicy::kInterrupt, in(100_ms)), IsOk());
    }
  });
  EXPECT_EQ(queue_statistics(*device).queue_ids, 0U);
}

TEST_F(SharedDeviceTest, MemoryComesAndGoesBesideACompaction) {
  crowd([&](unsigned i) {
    for (int n = 0; n < 10; ++n) {
      const auto got = must(device->allocate((n % 3 + 1) * 2_MiB));
      if (i == 0) static_cast<void>(device->compact(16_MiB));
      EXPECT_THAT(copy(stream), IsOk());
      EXPECT_THAT(device->free(got.address), IsOk());
    }
  });
}

TEST_F(SharedDeviceTest, EventsComeAndGo) {
  crowd([&](unsigned) {
    for (int n = 0; n < 20; ++n) {
      const auto event = must(device->create_event());
      SubmitOptions options;
      options.event = event;
      const auto ticket = must(submit(4096, options));
      EXPECT_THAT(device->wait(ticket, WaitPolicy::kAdaptive, in(100_ms)), IsOk());
      EXPECT_THAT(device->destroy_event(event), IsOk());
    }
  });
}

TEST_F(SharedDeviceTest, SignalsAreSetAndWaitedForByAll) {
  const auto process = open_process();
  auto& signals = process->signals();
  const auto signal = must(signals.create());
  begin(1, [&](unsigned) {
    for (int n = 0; n < 200; ++n) {
      EXPECT_THAT(signals.set(signal), IsOk());
      pass(1_us);
    }
  });
  begin(kCrowd, [&](unsigned) {
    EXPECT_THAT(signals.wait(signal, WaitPolicy::kInterrupt, in(10_ms)), IsOk());
  });
  join();
}

}  // namespace
}  // namespace npu::driver
