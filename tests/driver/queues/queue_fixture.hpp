// SPDX-License-Identifier: Apache-2.0
// A process with compute queues on the fake card.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "npu/driver/process.hpp"
#include "tests/support/fake/fake_platform.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {

using test::BusAccess;
using test::FailsWith;
using test::IsOk;
using test::must;

inline constexpr DeviceAddress kNowhere{0x1234'0000'0000};  // never mapped

constexpr Bytes kDoorbells = 56_GiB + 48_MiB;  // layout.hpp: reserved doorbell pages

class QueueTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = must(Device::open(fake, card.config().bdf));
    device = std::move(opened);
    process = open_process();
  }
  void TearDown() override {
    process.reset();
    EXPECT_EQ(cp.queues(), 0U);
    EXPECT_EQ(cp.processes(), 0U);
    for (const auto& violation : cp.violations()) ADD_FAILURE() << violation;
    const auto left = statistics();
    if (!expect_leak) {
      EXPECT_EQ(left.queue_ids + left.pasids + left.doorbell_pages, 0U);
      EXPECT_EQ(left.queues + left.mapped_processes, 0U);
    }
    device.reset();
  }

  std::unique_ptr<ProcessContext> open_process(const ProcessOptions& options = {}) {
    auto opened = ProcessContext::open(*device, options);
    EXPECT_THAT(opened, IsOk());
    return opened ? std::move(*opened) : nullptr;
  }
  std::unique_ptr<Queue> make(const QueueOptions& options = {}) { return make(*process, options); }
  static std::unique_ptr<Queue> make(ProcessContext& of, const QueueOptions& options = {}) {
    auto made = of.create_queue(options);
    EXPECT_THAT(made, IsOk());
    return made ? std::move(*made) : nullptr;
  }
  static QueueOptions small(unsigned log2 = 2) {
    QueueOptions options;
    options.ring.log2_entries = log2;
    return options;
  }
  Instant in(Picoseconds time) { return fake.scheduler.now() + time; }
  Status run(Queue& queue, const abi::QueueEntry& entry = entries::nop()) {
    const auto ticket = queue.submit(entry, in(1_ms));
    if (!ticket) return forward_error(ticket);
    return queue.wait(*ticket, WaitPolicy::kPolling, in(10_ms));
  }
  bool submit(Queue& queue, const abi::QueueEntry& entry = entries::nop()) {
    return queue.submit(entry, in(1_ms)).has_value();
  }
  // Lets the card work.
  void pass(Picoseconds time) {
    static_cast<platform::Platform&>(fake).clock().sleep_until(in(time));
  }
  std::size_t executed(const Queue& queue) const {
    std::size_t count = 0;
    for (const auto& entry : cp.executed()) count += entry.queue == queue.id().value ? 1 : 0;
    return count;
  }
  std::size_t commands(abi::ManagementOpcode opcode) const {
    std::size_t count = 0;
    for (const auto done : cp.commands())
      count += done == static_cast<std::uint8_t>(opcode) ? 1 : 0;
    return count;
  }
  QueueManagerStatistics statistics() { return queue_statistics(*device); }
  Status change(Queue& queue, const QueueChange& what) { return process->update(queue.id(), what); }

  test::FakePlatform fake;
  test::FakeCard& card = fake.add_card();
  test::FakeQueues& cp = card.queues();
  std::unique_ptr<Device> device;
  std::unique_ptr<ProcessContext> process;
  bool expect_leak = false;  // ids that the card would not give up
};

}  // namespace npu::driver
