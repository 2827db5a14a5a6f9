// SPDX-License-Identifier: Apache-2.0
// In which order a card does what a call asks for: in a stream's, or by itself before the call
// returns.
#pragma once

#include <memory>

#include "apps/exec/acl/caller.hpp"

namespace npu::exec::acl {

class CopyOrder {
 public:
  // In a stream: of the caller's context. kStreamContext: of another device than `card`;
  // kInvalidHandle, kNoContext.
  static Value<CopyOrder> of(Caller& caller, ProcessCard& card, const compat::wire::Order& order);

  // What it is given becomes a model's.
  bool is_captured() const { return stream_ != nullptr && stream_->model != nullptr; }
  // What was submitted before has ended, however.
  void wait_for_earlier();
  // Submits and waits: until all of the stream is done, if it is in one.
  Outcome run(const abi::QueueEntry& entry);
  // Submits; waits if it is in no stream. `keep` lives until the work has ended.
  Outcome begin(const abi::QueueEntry& entry, std::shared_ptr<const void> keep = {});
  // What was begun last is the rest of a copy of these bytes, or of a fill: for who looks for
  // races.
  void remember(PinnedMemory& memory, Bytes offset, Bytes size, std::uint64_t stream) const;
  // Bytes of the host piece by piece, through memory of the thread's that the card reaches.
  Outcome move(driver::DeviceAddress device, ByteSpan host, bool to_device);

 private:
  CopyOrder(Caller& caller, ProcessCard& card, std::shared_ptr<ProgramStream> stream)
      : caller_(caller), card_(card), stream_(std::move(stream)) {}

  Caller& caller_;
  ProcessCard& card_;
  std::shared_ptr<ProgramStream> stream_;  // null: none
};

}  // namespace npu::exec::acl
