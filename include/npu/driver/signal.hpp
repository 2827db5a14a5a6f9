// SPDX-License-Identifier: Apache-2.0
// Signals of a process: 64-bit values in a page of host memory that entries of its queues write
// (entries::record_event) and wait for (entries::wait_event), and so does the host.
//
// The value is the signal's age: it starts at 1 and every set() counts it up; an entry writes what
// it was given, which should be more than the value before. Members may be called from several
// tasks at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/driver/event.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/types.hpp"

namespace npu::driver {

struct SignalOptions {
  bool auto_reset = false;  // the wait that it ends, resets it
};

struct SignalWait {
  SignalId signal;
  // None: the wait ends when the signal is set, now or later.
  // 0: it always sleeps until the signal is set anew, and stays 0.
  // Else: it ends at once if the signal's age is another one; on return it is the present one.
  std::optional<std::uint64_t> age;
};

class NPU_API Signals {
 public:
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  unsigned capacity() const;
  unsigned in_use() const;

  // kOutOfResources: all slots in use.
  Result<SignalId> create(const SignalOptions& options = {});
  // kNotFound. Those who wait for it get kAborted.
  Status destroy(SignalId signal);
  // Counts the value up, lets entries that wait for it look again and wakes tasks that do; the
  // latter at once if the process has queues, else when they look by themselves. kNotFound.
  Status set(SignalId signal);
  // The same, but to `value` at least: as if all entries that write values up to it had run.
  Status raise(SignalId signal, std::uint64_t value);
  // Not set any more; the age stays. kNotFound.
  Status reset(SignalId signal);
  Result<bool> is_set(SignalId signal) const;
  Result<std::uint64_t> age(SignalId signal) const;

  // Ends when one of `waits` has its condition; the index of the first that has. Auto-reset takes
  // the signals that ended the wait, and no other. kTimeout, kNotFound, kInvalidArgument (none),
  // kAborted.
  Result<std::size_t> wait_any(std::vector<SignalWait>& waits, WaitPolicy policy, Instant deadline);
  // Ends when all have their conditions at the same time, or have had them, by age.
  Status wait_all(std::vector<SignalWait>& waits, WaitPolicy policy, Instant deadline);
  Status wait(SignalId signal, WaitPolicy policy, Instant deadline);

  struct Impl;  // the driver's own
  explicit Signals(std::unique_ptr<Impl> impl);

 private:
  friend struct ImplAccess;  // the driver's own
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
