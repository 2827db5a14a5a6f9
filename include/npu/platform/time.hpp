// SPDX-License-Identifier: Apache-2.0
// Time, interrupts and tasks of the host, for the driver.
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

// All deadlines are absolute times of now().
class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic. Simulated time on the simulator, CLOCK_MONOTONIC on Linux.
  virtual Instant now() = 0;
  // One round of a poll loop: the caller has just read `watched` (host memory that the device
  // writes), or something else (empty span), and will read it again. Takes the CPU time of one
  // round. With a non-empty span it may skip rounds in which the caller would see no change and
  // `deadline` has not passed.
  virtual void relax(ConstByteSpan watched, Instant deadline) = 0;
  // Sleeps until `deadline`.
  virtual void sleep_until(Instant deadline) = 0;
};

// An MSI-X vector. It counts interrupts, so that one before the wait is not lost:
//   seen = vector.count(); if (condition) return; vector.wait_after(seen, deadline);
class InterruptVector {
 public:
  virtual ~InterruptVector() = default;
  virtual std::uint64_t count() = 0;
  // Blocks while count() == seen, and returns the new count. Several tasks may wait; an interrupt
  // wakes all.
  // kTimeout: no interrupt until `deadline`.
  virtual Result<std::uint64_t> wait_after(std::uint64_t seen, Instant deadline) = 0;
  // The same for a periodic check (Condition::daemon_wait()).
  virtual Result<std::uint64_t> daemon_wait_after(std::uint64_t seen, Instant deadline) {
    return wait_after(seen, deadline);
  }
  // Adds 1 to the count, so that waiting tasks return.
  virtual void wake() = 0;
};

struct CpuUsage {
  Picoseconds busy;  // CPU time
  Picoseconds idle;  // blocked time
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
  // False: not free until `deadline`. A free mutex is locked even after `deadline`.
  virtual bool try_lock_until(Instant deadline) = 0;
  virtual void unlock() = 0;
};

class Condition {
 public:
  virtual ~Condition() = default;
  // The caller holds `mutex`. It is released during the wait.
  // kTimeout: not notified until `deadline`.
  virtual Status wait(Mutex& mutex, Instant deadline) = 0;
  // A daemon wait: for a task that at `deadline` only checks for changes without a notification,
  // and then waits again. The platform need not return if nothing else would ever happen and such
  // checks find nothing.
  virtual Status daemon_wait(Mutex& mutex, Instant deadline) { return wait(mutex, deadline); }
  virtual void notify_all() = 0;
};

// Work on device memory that a driver in an operating system's kernel does and a user-space driver
// does not. The simulator charges it (docs/sources/virtualisation.md S8).
enum class KernelWork : std::uint8_t {
  kPageTableLock,  // lock an address space and its page tables, look up, unlock
  kFault,          // decode and record a device's fault and write its entry
  kFirstTouch,     // set up a 2 MiB page at the device's first access
  kUnmap,          // remove it from the page tables of the host program
  kTlbShootdown,   // invalidate a range in the TLBs of the host's cores
  kDmaMap,         // map the host pages of a 2 MiB page for a device
  kAllocatePage,   // allocate and clear a 2 MiB page of the device
  kMapPage,        // write an entry of its page tables, of 2 MiB or 1 GiB, and tell the device
};
inline constexpr std::size_t kKernelWorks = 8;

// Tasks run in parallel, each on its own CPU if there are enough. On the simulator only one
// executes at a time, and they switch only inside platform calls. Portable code still protects
// shared state with a Mutex.
class Tasks {
 public:
  virtual ~Tasks() = default;
  // kOutOfResources: no further task is possible.
  virtual Result<std::unique_ptr<Task>> spawn(std::string name, std::function<void()> body) = 0;
  virtual std::unique_ptr<Mutex> make_mutex() = 0;
  virtual std::unique_ptr<Condition> make_condition() = 0;
  // Of the calling task since its start.
  virtual CpuUsage cpu_usage() = 0;
  // The calling task makes `count` system calls outside of the platform, for files for example.
  // Only the simulator charges them.
  virtual void system_calls(unsigned count) { static_cast<void>(count); }
  // The calling task stands for a driver in a kernel, which would do `work` `count` times here.
  // Only the simulator charges it.
  virtual void kernel_work(KernelWork work, std::uint64_t count) {
    static_cast<void>(work), static_cast<void>(count);
  }
  // The calling task executes `count` instructions of a program that does not count them itself.
  // Only the simulator charges them.
  virtual void instructions(std::uint64_t count) { static_cast<void>(count); }
};

}  // namespace npu::platform
