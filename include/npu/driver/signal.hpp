// SPDX-License-Identifier: Apache-2.0
// Signals of a process (ProcessContext::signals()): 64-bit values in host memory. Queue entries
// write them (entries::record_event()) and wait for them (entries::wait_event()). So does the host,
// with this class.
//
// The value is the signal's age. It starts at 1, and every set() adds 1. An entry writes its own
// value, which should be larger than the one before. All members may be called from several tasks
// at once.
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
  bool auto_reset = false;  // a wait that it ends resets it
};

struct SignalWait {
  SignalId signal;
  // None: waits until the signal is set.
  // 0: waits until the signal is set again, even if it is set now.
  // Else: waits until the signal's age differs, and then becomes that age.
  std::optional<std::uint64_t> age;
};

class NPU_API Signals {
 public:
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  unsigned capacity() const;
  unsigned in_use() const;

  // kOutOfResources: all signals are in use.
  Result<SignalId> create(const SignalOptions& options = {});
  // Waits for it end with kAborted.
  // kNotFound: no such signal.
  Status destroy(SignalId signal);
  // Adds 1 to the age. Entries and tasks that wait for the signal check it again; without queues in
  // the process a sleeping task does so only at its next check of the card.
  // kNotFound: no such signal.
  Status set(SignalId signal);
  // Raises the age to `value`, as if all entries that write values up to it had run. Else as set().
  Status raise(SignalId signal, std::uint64_t value);
  // Marks the signal as not set, and keeps its age.
  // kNotFound: no such signal.
  Status reset(SignalId signal);
  // kNotFound: no such signal.
  Result<bool> is_set(SignalId signal) const;
  Result<std::uint64_t> age(SignalId signal) const;

  // Waits until one of `waits` is met, and returns the index of the first. Of signals with
  // auto_reset only that one is reset.
  // kTimeout: none is met at `deadline`.
  // kNotFound: no such signal.
  // kInvalidArgument: `waits` is empty.
  // kAborted: a signal was destroyed, or the device was shut down.
  // kDeviceLost, kIo: the card does not answer.
  Result<std::size_t> wait_any(std::vector<SignalWait>& waits, WaitPolicy policy, Instant deadline);
  // Waits until all are met at the same time. Errors as wait_any().
  Status wait_all(std::vector<SignalWait>& waits, WaitPolicy policy, Instant deadline);
  Status wait(SignalId signal, WaitPolicy policy, Instant deadline);

  struct Impl;  // the driver's own
  explicit Signals(std::unique_ptr<Impl> impl);

 private:
  friend struct ImplAccess;  // the driver's own
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
