// SPDX-License-Identifier: Apache-2.0
// A submission through link, command processor and back: its parts, and what the card counts.
#include "tests/support/raw_queues.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {
namespace {

using platform::Activity;

struct Milestones : platform::TraceSink {
  std::uint64_t cause = 0;
  Instant doorbell, looked_at, fetched, decoded, done, visible;
  void on_event(const platform::TraceEvent& event) override {
    if (event.cause != cause) return;
    if (event.activity == Activity::kQueueDoorbell) doorbell = event.begin, looked_at = event.end;
    if (event.activity == Activity::kQueueFetch) fetched = event.end;
    if (event.activity == Activity::kQueueDecode) decoded = event.end;
    if (event.activity == Activity::kQueueComplete) done = event.begin;
    if (event.activity == Activity::kHostWrite) visible = event.end;
  }
};

// Doorbell decode, fetch over the link, decode, completion processing, completion entry: each
// follows the one before without a gap, and what is configured takes what is configured.
TEST(RawQueue, ThePartsOfASubmissionAddUp) {
  Machine machine;
  Milestones seen;
  machine.run([&](platform::Platform& host) {
    RawQueues queues(host, machine.card(0));
    const auto memory = queues.process_memory(RawQueues::kShare);
    queues.add(3, *memory);
    for (std::uint64_t i = 0; i < 2; ++i) {  // the first one loads the queue
      if (i == 1) {
        seen.cause = platform::queue_cause(0, 3, 1);
        machine.system.simulation().recorder.add(seen);
      }
      queues.push(*memory, i, RawQueues::nop(7));
      queues.ring(3, i + 1);
      ASSERT_TRUE(queues.wait(*memory, i));
    }
    machine.system.simulation().recorder.remove(seen);
  });
  const auto& command = machine.chip().command;
  EXPECT_EQ(seen.looked_at - seen.doorbell, command.doorbell_decode);
  EXPECT_EQ(seen.decoded - seen.fetched, command.decode);
  EXPECT_EQ(seen.done, seen.decoded) << "a nop has no work";
  EXPECT_GT(seen.fetched - seen.looked_at, 300_ns) << "a round trip over the link";
  EXPECT_GT(seen.visible - seen.done, command.completion_processing + 100_ns);
}

TEST(RawQueue, EachSubmissionIsOneDoorbellForTheCard) {
  Machine machine;
  machine.run([&](platform::Platform& host) {
    RawQueues queues(host, machine.card(0));
    const auto memory = queues.process_memory(RawQueues::kShare);
    queues.add(3, *memory);
    for (std::uint64_t i = 0; i < 600; ++i) {
      queues.push(*memory, i, RawQueues::nop(7));
      queues.ring(3, i + 1);
      ASSERT_TRUE(queues.wait(*memory, i)) << i;
    }
    const auto& statistics = machine.system.card(0).command().statistics();
    EXPECT_EQ(statistics.maps, 1U);
    EXPECT_EQ(statistics.doorbells, 600U);
    EXPECT_EQ(statistics.faults, 0U);
  });
}

}  // namespace
}  // namespace npu::test
