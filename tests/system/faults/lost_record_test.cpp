// SPDX-License-Identifier: Apache-2.0
// What the card says to host memory of an end is lost: bus mastering is off when it does, or the
// function is reset before. Who asks again and again hears of it, and nobody hears that a command
// is done that is not.
#include "npu/abi/pci.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/queue_entries.hpp"
#include "tests/system/faults/fault_bench.hpp"

namespace npu::test {
namespace {

constexpr Picoseconds kTimeout = 20_ms;

class LostRecord : public testing::Test {
 protected:
  void set_command(platform::Platform& host, unsigned bits) const {
    host.pci().write(card_, abi::pci::kCommand, 2, bits);
  }
  // Bus mastering off `after` from now, for 50 us.
  std::unique_ptr<platform::Task> switch_off(platform::Platform& host, Picoseconds after) {
    constexpr unsigned kMemory = abi::pci::kCommandMemory;
    const auto when = host.clock().now() + after;
    return must(host.tasks().spawn("switch", [this, &host, when] {
      host.clock().sleep_until(when);
      set_command(host, kMemory);
      host.clock().sleep_until(host.clock().now() + 50_us);
      set_command(host, kMemory | abi::pci::kCommandBusMaster);
    }));
  }
  // A reset, and somebody who lets it decode again.
  void reset(platform::Platform& host) const {
    EXPECT_TRUE(host.reset_function(card_));
    set_command(host, abi::pci::kCommandMemory | abi::pci::kCommandBusMaster);
  }
  // What asking every 10 us says in the end.
  template <class Ask>
  static Result<bool> ask_until_known(platform::Platform& host, Ask ask) {
    const auto deadline = host.clock().now() + kTimeout;
    for (;;) {
      const auto done = ask();
      if (!done || *done) return done;
      if (host.clock().now() >= deadline) return fail(ErrorCode::kTimeout, "nobody knows");
      host.clock().sleep_until(host.clock().now() + 10_us);
    }
  }

  static void expect_done_or_fault(const Result<bool>& end) {
    const bool fault = !end && end.error().code == ErrorCode::kDeviceFault;
    EXPECT_TRUE(end || fault) << end.error().message();
  }

  Machine machine_{{}, "910b2.yaml"};
  const platform::Bdf card_{1, 0, 0};
};

// From one place in device memory to another, which needs nothing of the host.
TEST_F(LostRecord, OfACopyWithinTheCardIsAskedFor) {
  machine_.run([this](platform::Platform& host) {
    FaultyCard bench(host);
    const auto known = bench.buffer(64_KiB, 0xC5);
    const auto command =
        DmaCommand::device_to_device(bench.memory.address, bench.memory.address + 1_MiB, 64_KiB);
    unsigned whole = 0;
    for (Picoseconds after; after < 20_us && !HasFailure(); after = after + 500_ns) {
      SCOPED_TRACE(after.count());
      const auto stream = must(bench.device->create_stream());
      const auto in = DmaCommand::host_to_device(known->bus(), bench.memory.address, 64_KiB);
      ASSERT_TRUE(bench.copy(stream, in));
      const auto task = switch_off(host, after);
      host.clock().sleep_until(host.clock().now() + 8_us);
      const auto ticket = must(bench.device->submit(stream, command));
      const auto end = ask_until_known(host, [&] { return bench.device->is_done(ticket); });
      expect_done_or_fault(end);
      whole += end ? 1 : 0;
      task->join();
      EXPECT_TRUE(bench.device->destroy_stream(stream, host.clock().now() + 1_ms));
    }
    EXPECT_GT(whole, 0U);
    EXPECT_TRUE(bench.device->reset_queue());
    bench.expect_works();
  });
}

TEST_F(LostRecord, OfAResetCardIsNotWaitedFor) {
  machine_.run([this](platform::Platform& host) {
    for (const auto policy :
         {WaitPolicy::kPolling, WaitPolicy::kInterrupt, WaitPolicy::kAdaptive}) {
      FaultyCard bench(host);
      const auto bytes = bench.buffer(4_MiB, 1);
      const auto ticket = must(bench.device->submit(bench.stream, bench.long_copy(true, *bytes)));
      reset(host);
      expect_code(bench.device->wait(ticket, policy, Instant::never()), ErrorCode::kAborted);
      const auto asked = bench.device->is_done(ticket);
      ASSERT_FALSE(asked);
      EXPECT_EQ(asked.error().code, ErrorCode::kAborted) << asked.error().message();
    }
    FaultyCard(host).expect_works();
  });
}

TEST_F(LostRecord, OfAResetCardIsNotAskedForWithoutEnd) {
  machine_.run([this](platform::Platform& host) {
    {
      FaultyCard bench(host);
      const auto bytes = bench.buffer(4_MiB, 1);
      const auto ticket = must(bench.device->submit(bench.stream, bench.long_copy(true, *bytes)));
      EXPECT_TRUE(host.reset_function(card_));  // and it decodes nothing
      const auto end = ask_until_known(host, [&] { return bench.device->is_done(ticket); });
      ASSERT_FALSE(end);
      EXPECT_EQ(end.error().code, ErrorCode::kIo) << end.error().message();
    }
    FaultyCard(host).expect_works();
  });
}

// A compute queue's entries, which need nothing of the host either.
TEST_F(LostRecord, OfAQueueIsAskedFor) {
  machine_.run([this](platform::Platform& host) {
    FaultyCard bench(host);
    for (Picoseconds after; after < 20_us && !HasFailure(); after = after + 1_us) {
      SCOPED_TRACE(after.count());
      const auto process = must(driver::ProcessContext::open(*bench.device));
      const auto memory = must(process->space().allocate(1_MiB));
      const auto queue = must(process->create_queue());
      const auto task = switch_off(host, after);
      host.clock().sleep_until(host.clock().now() + 8_us);
      std::vector<driver::QueueTicket> tickets;
      tickets.reserve(8);
      for (unsigned i = 0; i < 8; ++i) {
        const auto entry = driver::entries::fill(memory.address, 64_KiB, i);
        tickets.push_back(must(queue->submit(entry, host.clock().now() + 1_ms)));
      }
      for (const auto& ticket : tickets) {
        const auto end = ask_until_known(host, [&] { return queue->is_done(ticket); });
        expect_done_or_fault(end);
      }
      task->join();
      static_cast<void>(process->destroy(*queue, host.clock().now() + 1_ms));
    }
    bench.expect_works();
  });
}

TEST_F(LostRecord, OfAQueueOfAResetCardIsNotWaitedFor) {
  machine_.run([this](platform::Platform& host) {
    for (const auto policy :
         {WaitPolicy::kPolling, WaitPolicy::kInterrupt, WaitPolicy::kAdaptive}) {
      FaultyCard bench(host);
      const auto process = must(driver::ProcessContext::open(*bench.device));
      const auto memory = must(process->space().allocate(256_MiB));
      const auto queue = must(process->create_queue());
      const auto entry = driver::entries::fill(memory.address, 256_MiB, 1);
      const auto ticket = must(queue->submit(entry, host.clock().now() + 1_ms));
      reset(host);
      const Status waited = queue->wait(ticket, policy, Instant::never());
      expect_code(waited, ErrorCode::kAborted);
      const auto asked = ask_until_known(host, [&] { return queue->is_done(ticket); });
      ASSERT_FALSE(asked);
      EXPECT_EQ(asked.error().code, ErrorCode::kAborted) << asked.error().message();
    }
    FaultyCard(host).expect_works();
  });
}

}  // namespace
}  // namespace npu::test
