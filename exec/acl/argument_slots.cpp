// SPDX-License-Identifier: Apache-2.0
#include "exec/acl/argument_slots.hpp"

#include <utility>

namespace npu::exec::acl {

Result<std::unique_ptr<ArgumentSlots>> ArgumentSlots::open(driver::ProcessContext& process) {
  auto slots = std::make_unique<ArgumentSlots>();
  constexpr Bytes kAll = kSlots * abi::kMaxArgumentBytes;
  auto host = process.allocate_host(kAll, platform::DmaDirection::kDeviceReads);
  if (!host) return forward_error(host);
  const auto device = process.space().allocate(kAll);
  if (!device) return forward_error(device);
  slots->host_ = std::move(*host);
  slots->device_ = device->address;
  return slots;
}

Value<ArgumentSlots::Slot> ArgumentSlots::take(Instant deadline) {
  const std::size_t number = next_;
  next_ = (next_ + 1) % kSlots;
  if (const auto user = std::exchange(users_[number], std::nullopt)) {
    const auto done = user->lane->queue->wait(user->ticket, driver::WaitPolicy::kPolling, deadline);
    // A launch that has failed reads nothing any more, either.
    if (!done && done.error().code == ErrorCode::kTimeout) return fault(done.error());
  }
  const Bytes at = number * abi::kMaxArgumentBytes;
  return Slot{number, host_->cpu().subspan(at, abi::kMaxArgumentBytes), host_->bus() + at,
              device_ + at};
}

void ArgumentSlots::used_by(const Slot& slot, Submitted launch) {
  users_[slot.number] = std::move(launch);
}

}  // namespace npu::exec::acl
