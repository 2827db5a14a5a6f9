// SPDX-License-Identifier: Apache-2.0
// Streams and events of a program, and how their ends are told in the C API's codes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/exec/acl/card.hpp"
#include "apps/exec/acl/submitting.hpp"
#include "apps/exec/acl/time_pages.hpp"
#include "npu/driver/execution_stream.hpp"

namespace npu::exec::acl {

struct Model;       // models.hpp
struct TaskUpdate;  // task_groups.hpp

// How many cores a kernel may be on. It is decided when the kernel is launched.
using CoreLimits = std::array<std::uint32_t, kCoreKinds>;  // by Cores

struct ProgramStream {
  std::uint64_t context = 0;
  std::uint32_t device = 0;
  CoreLimits own{};  // 0: as the device has it
  std::unique_ptr<driver::ExecutionStream> stream;
  // Those that were given up (aclrtStreamAbort()); threads may still wait for them.
  std::vector<std::unique_ptr<driver::ExecutionStream>> aborted;
  std::uint64_t priority = 0, flags = 0;       // as the program has said
  std::uint64_t number = 0;                    // 0, 1, ... of the program
  bool stops = false;                          // on errors
  std::string broken;                          // what has ended early, and nobody was told yet
  std::uint64_t failed = 0;                    // index of the entry of the last fault that was told
  std::uint64_t subscriber = 0;                // thread that runs its callbacks; 0: none
  std::uint64_t host_subscriber = 0;           // its host functions; 0: the library's own
  std::unique_ptr<platform::Mutex> callbacks;  // held by who adds one
  // Set by the program after each callback that the stream waits for.
  std::optional<driver::SignalId> callback_signal;
  std::uint64_t callback_value = 1;
  std::shared_ptr<Model> model;        // that its work is recorded into; null: it runs
  std::size_t place = 0;               // in Model::streams
  std::shared_ptr<TaskUpdate> update;  // what takes its launches; null: they run
  // Streams of models that have run on it, whose faults it tells.
  std::vector<std::shared_ptr<ProgramStream>> helpers;
  // Waits with a time limit whose outcome nobody was told yet.
  std::vector<driver::StreamMark> limited;
  WatchedWork watched;
};

inline constexpr std::size_t kMostEvents = 65535;      // docs/sources/acl.md L4
inline constexpr std::uint64_t kExternalEvent = 0x20;  // ACL_EVENT_EXTERNAL
inline constexpr std::uint64_t kIpcEvent = 0x40;       // ACL_EVENT_IPC
inline constexpr std::uint64_t kDeviceOnly = 0x20;     // ACL_STREAM_DEVICE_USE_ONLY

// The ACL's 0 is the most urgent one of 8, the queues' 15 of 16.
inline unsigned queue_priority(std::uint64_t priority) {
  return static_cast<unsigned>(14 - 2 * std::min<std::uint64_t>(priority, 7));
}

inline CoreLimits limits_of(const ProgramStream& stream, const CoreLimits& device) {
  CoreLimits limits = device;
  for (std::size_t kind = 0; kind < limits.size(); ++kind) {
    if (stream.own[kind] != 0) limits[kind] = stream.own[kind];
  }
  return limits;
}

// An event of several programs.
struct SharedEvent {
  std::uint64_t writer = 0;                // Process::number(), of the last record
  std::uint32_t device = 0;                // of it, which is the writer's
  std::optional<driver::StreamMark> mark;  // of it; an empty one: the writer has gone
};

// A flag on the card: a signal that is kUnset or kSet.
struct ProgramNotify {
  static constexpr std::uint64_t kUnset = 1, kSet = 2;  // a new signal is kUnset
  std::uint32_t device = 0;
  driver::SignalId signal;
  // Of several programs: 8 bytes of the exporter's memory in the signal's place.
  std::string name = {};                           // by which it is shared; empty: it is not
  std::optional<driver::DeviceAddress> cell = {};  // as the device reaches it
  bool imported = false, far = false;              // another program's; it is on another card
  bool used = false;                               // by a stream
};

struct ProgramEvent {
  std::uint32_t device = 0;
  std::uint64_t number = 0;                    // 0, 1, ... of the program
  bool may_be_shared = false;                  // ACL_EVENT_IPC
  std::shared_ptr<SharedEvent> shared;         // null: it is not
  std::shared_ptr<ProgramNotify> flag;         // ACL_EVENT_EXTERNAL; null: it is none
  std::optional<driver::StreamRecord> record;  // the last one
  std::shared_ptr<const TimePlace> time;       // that it writes
  std::weak_ptr<Model> model;                  // that has its last record as a task
  std::uint32_t model_record = 0;              // of ModelRun::records
  std::vector<driver::StreamMark> waits;       // of streams for it, that had not ended
};

// A stream that waits until a value in device memory is as it should be, or until a copy is made
// whose addresses are in device memory.
struct ValueWaiting {
  std::uint64_t number = 0;  // 1, 2, ... of the program
  std::uint32_t device = 0;
  driver::DeviceAddress address;
  std::uint64_t value = 0, condition = 0;  // ACL_STREAM_WAIT_VALUE_...
  driver::StreamMark behind;               // it is looked at when this has ended
  driver::StreamMark held;                 // the stream's wait for the signal
  driver::SignalId signal;
  std::optional<compat::wire::IndirectCopy> copy = {};
  std::weak_ptr<ProgramStream> stream = {};  // that tells how the copy has failed
};

void add_limited(ProgramStream& stream, driver::StreamMark wait);
// Until everything of the stream is done. kInvalidHandle: it is closed; the first fault since the
// last time; `late`: not done at `deadline`.
Outcome synchronize(ProgramStream& stream, Instant deadline, int late);
// One look; the same errors.
Value<bool> is_done(ProgramStream& stream);
// Of a submission: kInvalidHandle when the stream was closed.
tl::unexpected<Fault> submission_fault(const Error& error);

}  // namespace npu::exec::acl
