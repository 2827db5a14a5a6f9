// SPDX-License-Identifier: Apache-2.0
// Time, interrupts and cooperative tasks of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"
#include "npu/base/units.hpp"

namespace npu::platform {

// Deadlines are instants of Clock::now(), not lengths of time.
class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic. Simulated time on the simulator, CLOCK_MONOTONIC on Linux.
  virtual Instant now() = 0;
  // One round of a poll loop: the caller has just looked at `watched` (host memory the device
  // writes) or at anything else (empty span) and will look again. Consumes one round's CPU time.
  // With a non-empty span it may return several whole rounds later, but not later than the first
  // round that sees `watched` changed or `deadline` passed, so that the caller cannot tell.
  virtual void relax(ConstByteSpan watched, Instant deadline) = 0;
  // Gives up the CPU until `deadline`.
  virtual void sleep_until(Instant deadline) = 0;
};

// An MSI-X vector as the operating system hands it out: it counts, so that an interrupt that
// comes before the wait is not lost.
//   seen = vector.count(); if (condition) return; vector.wait_after(seen, deadline);
class InterruptVector {
 public:
  virtual ~InterruptVector() = default;
  virtual std::uint64_t count() = 0;
  // Blocks while count() == seen. Returns the new count, or kTimeout at `deadline`. Any number of
  // tasks may wait; each interrupt wakes all of them.
  virtual Result<std::uint64_t> wait_after(std::uint64_t seen, Instant deadline) = 0;
  // The same for a look (Condition::daemon_wait()).
  virtual Result<std::uint64_t> daemon_wait_after(std::uint64_t seen, Instant deadline) {
    return wait_after(seen, deadline);
  }
  // Counts one more, so that waiting tasks look again: by whoever wants one of them to end.
  virtual void wake() = 0;
};

struct CpuUsage {
  Picoseconds busy;  // CPU time consumed, over all tasks
  Picoseconds idle;  // time tasks spent blocked, over all tasks
  std::uint64_t context_switches = 0;
};

class Task {
 public:
  virtual ~Task() = default;  // joins
  virtual void join() = 0;
  virtual CpuUsage cpu_usage() const = 0;
};

class Mutex {
 public:
  virtual ~Mutex() = default;
  virtual void lock() = 0;
  // False: it was not free until `deadline`. One that is free is taken whatever the time.
  virtual bool try_lock_until(Instant deadline) = 0;
  virtual void unlock() = 0;
};

class Condition {
 public:
  virtual ~Condition() = default;
  // `mutex` is held by the caller, released while waiting and held again on return.
  virtual Status wait(Mutex& mutex, Instant deadline) = 0;  // kTimeout at `deadline`
  // The same for who looks at `deadline` whether anything has changed that nobody told of, and then
  // waits again. Where a platform knows that nothing but such looks would ever happen again, and
  // that they find nothing, it need not return.
  virtual Status daemon_wait(Mutex& mutex, Instant deadline) { return wait(mutex, deadline); }
  virtual void notify_all() = 0;
};

// What a driver in the kernel of an operating system spends on memory of a device, and one in user
// space does not: it has no address space to lock, and no pages of programs to take away.
enum class KernelWork : std::uint8_t {
  kPageTableLock,  // an address space and its page tables locked, what they guard looked up,
                   // unlocked
  kFault,          // a fault of the device: decoded, entered in the books, its entry made
  kFirstTouch,     // a page of 2 MiB that the device touches for the first time: its books made
  kUnmap,          // the same taken out of the page tables of the program on the host
  kTlbShootdown,   // the host's cores made to forget a range
  kDmaMap,         // pages of the host that make up one of 2 MiB mapped for a device
  kAllocatePage,   // a page of 2 MiB of the device: found, cleared, accounted for
  kMapPage,        // an entry of its page tables, of 2 MiB or 1 GiB: made, the device told
};
inline constexpr std::size_t kKernelWorks = 8;

// Tasks run in parallel in (simulated) time, each on a CPU of its own as long as there are enough.
// On the simulator only one executes at a time and they change over only inside platform calls;
// portable code nevertheless takes a Mutex around shared state.
class Tasks {
 public:
  virtual ~Tasks() = default;
  // kOutOfResources: the system has no room for another one.
  virtual Result<std::unique_ptr<Task>> spawn(std::string name, std::function<void()> body) = 0;
  virtual std::unique_ptr<Mutex> make_mutex() = 0;
  virtual std::unique_ptr<Condition> make_condition() = 0;
  // Of the calling task since it began.
  virtual CpuUsage cpu_usage() = 0;
  // The calling task makes so many calls into the operating system that go past the platform, of
  // files for example. The simulator charges them; on a machine they take their time by themselves.
  virtual void system_calls(unsigned count) { static_cast<void>(count); }
  // The calling task does what a driver in a kernel does `count` times here. The simulator charges
  // it; where the driver stands for no other, it costs nothing.
  virtual void kernel_work(KernelWork work, std::uint64_t count) {
    static_cast<void>(work), static_cast<void>(count);
  }
};

}  // namespace npu::platform
