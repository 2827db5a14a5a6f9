// SPDX-License-Identifier: Apache-2.0
// Copies between the host's own memory and the card's, in the order of a stream, through host
// memory that the card reaches. Only one task at a time may use it.
#pragma once

#include <array>
#include <memory>

#include "kernels/operators/launcher/spans.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/driver/execution_stream.hpp"

namespace npu::network {

class Staging {
 public:
  // All outlive it. Its waits for the card are added to `waits`. Errors are those of
  // ProcessContext::allocate_host().
  static Result<std::unique_ptr<Staging>> open(platform::Platform& platform,
                                               driver::ProcessContext& process,
                                               operators::Spans& waits);

  // Returns when `from` has been read; the copy may still have to begin. Waits for room.
  // Errors: those of ExecutionStream::submit() and StreamMark::wait().
  Status write(driver::ExecutionStream& stream, driver::DeviceAddress to, ConstByteSpan from);
  // Behind all that the stream has, and waits for it. The same errors.
  Status read(driver::ExecutionStream& stream, driver::DeviceAddress from, ByteSpan to);

 private:
  static constexpr std::size_t kParts = 8;
  struct Part {
    Bytes used = 0;
    driver::StreamMark last;
  };
  struct Piece {
    std::size_t part;
    Bytes begin, size;  // of what is copied
  };

  Staging(platform::Platform& platform, operators::Spans& waits,
          std::unique_ptr<platform::DmaMemory> memory)
      : platform_(platform), waits_(waits), memory_(std::move(memory)) {}
  // One that no copy uses is the present one then.
  Status next_part();
  Status submit(driver::ExecutionStream& stream, const abi::QueueEntry& entry);
  Status wait(const driver::StreamMark& mark);
  Status read_group(driver::ExecutionStream& stream, driver::DeviceAddress from, ByteSpan to);

  platform::Platform& platform_;
  operators::Spans& waits_;
  std::unique_ptr<platform::DmaMemory> memory_;
  std::array<Part, kParts> parts_;
  std::size_t present_ = 0;
};

}  // namespace npu::network
