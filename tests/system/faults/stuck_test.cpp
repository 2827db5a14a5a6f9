// SPDX-License-Identifier: Apache-2.0
// Programs that wait for what never comes end with an error that names the waiter.
#include "tests/system/faults/fault_bench.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace npu::test {
namespace {

// What a stuck task owns is never given back: its stack does not unwind.
class LeaksExpected {
#if defined(__SANITIZE_ADDRESS__)
  __lsan::ScopedDisabler disabler_;
#endif
};

// Runs `body`, which must never return, and gives the error's text.
std::string stuck(Machine& machine, const std::function<void(platform::Platform&)>& body) {
  [[maybe_unused]] const LeaksExpected leaks{};
  const Status status = machine.system.run([&](platform::Platform& host) {
    body(host);
    ADD_FAILURE() << "came back";
  });
  if (status) return "no error";
  EXPECT_EQ(status.error().code, ErrorCode::kTimeout);
  return status.error().context;
}

TEST(Stuck, WaitingForAnInterruptThatNobodySends) {
  Machine machine;
  const auto text = stuck(machine, [](platform::Platform& host) {
    const auto device = open_card(host);
    const auto vector = must(host.open_vector(device->info().bdf(), 200));
    static_cast<void>(vector->wait_after(vector->count(), Instant::never()));
  });
  EXPECT_NE(text.find("main waits for interrupt vector 200 of 01:00.0"), std::string::npos) << text;
}

TEST(Stuck, PollingMemoryThatNobodyWrites) {
  Machine machine;
  const auto text = stuck(machine, [](platform::Platform& host) {
    const auto device = open_card(host);
    const auto memory = must(device->allocate_host(4_KiB));
    host.clock().relax(memory->cpu(), Instant::never());
  });
  EXPECT_NE(text.find("main waits for a change in memory it polls"), std::string::npos) << text;
}

TEST(Stuck, WaitingForATaskThatIsStuckItself) {
  Machine machine;
  const auto text = stuck(machine, [](platform::Platform& host) {
    const auto mutex = host.tasks().make_mutex();
    const auto condition = host.tasks().make_condition();
    const auto task = must(host.tasks().spawn("worker", [&] {
      mutex->lock();
      static_cast<void>(condition->wait(*mutex, Instant::never()));
    }));
    task->join();
  });
  EXPECT_NE(text.find("main waits for task worker"), std::string::npos) << text;
  EXPECT_NE(text.find("worker waits for a condition"), std::string::npos) << text;
}

// The driver itself looks at the card now and then, so that it never gets stuck.
TEST(Stuck, ADriverWithoutADeadlineStillNoticesALostCard) {
  Machine machine;
  machine.run([&](platform::Platform& host) {
    FaultyCard bench(host);
    const auto memory = bench.buffer(4_KiB, 1);
    const auto command = DmaCommand::host_to_device(memory->bus(), bench.memory.address, 4_KiB);
    const auto ticket = must(bench.device->submit(bench.stream, command));
    machine.system.fabric().link(0).set_down(true);
    expect_code(bench.device->wait(ticket, WaitPolicy::kInterrupt, Instant::never()),
                ErrorCode::kDeviceLost);
  });
}

}  // namespace
}  // namespace npu::test
