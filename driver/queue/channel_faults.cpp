// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/channel_faults.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/queue/fault_text.hpp"

namespace npu::driver {

// What runs beside an entry at fault may fail, too; one that is at fault is as good as all of them.
void ChannelFaults::note(const QueueFault& fault) {
  constexpr std::size_t kKept = 64;
  {
    lock_.lock(clock_);
    const SpinLockHolder holder(lock_);
    // Those it goes on after are asked for soon, or never: the youngest are kept.
    if (known_.size() == kKept && known_.front().continued) known_.erase(known_.begin());
    if (known_.size() < kKept) known_.push_back(fault);
  }
  if (!fault.continued) note(fault.code);
}

void ChannelFaults::note(abi::FaultCode code) {
  auto none = abi::FaultCode::kNone;
  code_.compare_exchange_strong(none, code, std::memory_order_acq_rel);
}

tl::unexpected<Error> ChannelFaults::error_of(const QueueTicket& ticket,
                                              abi::FaultCode code) const {
  std::string text =
      fmt::format("queue {}, entry {}: {}", queue_.value, ticket.index, to_string(code));
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  auto known = std::find_if(known_.begin(), known_.end(), [&](const QueueFault& fault) {
    return fault.code == code && fault.index == ticket.index;
  });
  if (known == known_.end()) {  // the fault that has stopped the queue
    known = std::find_if(known_.begin(), known_.end(),
                         [](const QueueFault& fault) { return !fault.continued; });
  }
  if (known != known_.end()) {
    const std::string place = whole_place_of(*known);
    if (known->index != ticket.index) text += fmt::format("; of entry {}", known->index);
    if (!place.empty()) text += "; " + place;
  }
  return fail(ErrorCode::kDeviceFault, text);
}

}  // namespace npu::driver
