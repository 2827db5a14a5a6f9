// SPDX-License-Identifier: Apache-2.0
// Streams and events of a program, and how their ends are told in the C API's codes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "apps/exec/acl/card.hpp"
#include "apps/exec/acl/time_pages.hpp"
#include "npu/driver/execution_stream.hpp"

namespace npu::exec::acl {

// How many cores a kernel may be on. It is decided when the kernel is launched.
using CoreLimits = std::array<std::uint32_t, kCoreKinds>;  // by Cores

struct ProgramStream {
  std::uint64_t context = 0;
  std::uint32_t device = 0;
  CoreLimits own{};  // 0: as the device has it
  std::unique_ptr<driver::ExecutionStream> stream;
  std::uint64_t subscriber = 0;                // thread that runs its callbacks; 0: none
  std::unique_ptr<platform::Mutex> callbacks;  // held by who adds one
  // Set by the program after each callback that the stream waits for.
  std::optional<driver::SignalId> callback_signal;
  std::uint64_t callback_value = 1;
};

inline CoreLimits limits_of(const ProgramStream& stream, const CoreLimits& device) {
  CoreLimits limits = device;
  for (std::size_t kind = 0; kind < limits.size(); ++kind) {
    if (stream.own[kind] != 0) limits[kind] = stream.own[kind];
  }
  return limits;
}

struct ProgramEvent {
  std::uint32_t device = 0;
  std::optional<driver::StreamRecord> record;  // the last one
  std::shared_ptr<const TimePlace> time;       // that it writes
};

// Until everything of the stream is done. kInvalidHandle: it is closed; the first fault since the
// last time; `late`: not done at `deadline`.
Outcome synchronize(ProgramStream& stream, Instant deadline, int late);
// One look; the same errors.
Value<bool> is_done(ProgramStream& stream);
// Of a submission: kInvalidHandle when the stream was closed.
tl::unexpected<Fault> submission_fault(const Error& error);

}  // namespace npu::exec::acl
