// SPDX-License-Identifier: Apache-2.0
// Errors of a card's memory that nobody has read yet, found on request.
#pragma once

#include "npu/driver/device.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/management.hpp"

namespace npu::driver {

struct ScrubReport {
  Bytes bytes = 0;      // that were read: pages of 2 MiB that are in use
  Picoseconds time;     // of the call
  ErrorCounts found{};  // errors that reads have found meanwhile, those of others included
};

// Reads all of the card's memory that is in use. A burst with one wrong bit is corrected and
// written back. One with more stays as it is, and counts if no read has found it before. Errors
// appear in Management::memory_errors(), in the log of events and as alarms. Work on the card goes
// on, and shares the memory's bandwidth. Management commands wait for at most 2 MiB of it.
// kTimeout: not done at `deadline`; what was read is corrected.
// kUnsupported: the card has no command processor, or no ECC.
// kAborted: the card was reset. kBadDevice, kDeviceLost, kIo.
NPU_API Result<ScrubReport> scrub_memory(Device& device, Instant deadline);

}  // namespace npu::driver
