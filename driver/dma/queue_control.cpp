// SPDX-License-Identifier: Apache-2.0
// DmaQueue: starting, draining and stopping.
#include <fmt/format.h>

#include "driver/dma/dma_queue.hpp"
#include "npu/abi/registers.hpp"

namespace npu::driver {

Status DmaQueue::start(Instant deadline) {
  if (auto ok = disable(deadline); !ok) return ok;
  if (!lock_.try_lock_until(link_.clock(), deadline)) {
    return fail(ErrorCode::kTimeout, "waited for other submissions");
  }
  const SpinLockHolder holder(lock_);
  return enable();
}

// Under the lock: whoever looks at the card's index meanwhile must know of which run it is.
Status DmaQueue::enable() {
  link_.write(abi::DmaQueueBase::from_raw(ring_.base()));
  abi::DmaQueueControl control;
  control.set<abi::DmaQueueControl::Enable>(1);
  control.set<abi::DmaQueueControl::HostMemory>(ring_.in_host_memory() ? 1 : 0);
  link_.write(control);
  const auto status = link_.read<abi::DmaQueueStatus>();
  if (!status) return forward_error(status);
  if (!status->get<abi::DmaQueueStatus::Enabled>()) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("{}: the DMA queue does not enable, status {:#x}",
                            to_string(link_.bdf()), status->raw));
  }
  const QueueMark begin(submitted().next_epoch(), 0);
  consumer_.store(begin.raw(), std::memory_order_relaxed);
  producer_.store(begin.raw(), std::memory_order_release);
  return {};
}

// Until the gate opens nobody counts on an event, rings the doorbell or sees half a reset.
Status DmaQueue::reset(Instant deadline) {
  if (auto ok = close_gate(deadline); !ok) return ok;
  stopped_.store(true, std::memory_order_relaxed);
  Status status = start(deadline);
  if (status) status = events_.reset();
  stopped_.store(!status, std::memory_order_relaxed);
  open_gate();
  return status;
}

tl::unexpected<Error> DmaQueue::stopped_error() const {
  return fail(
      ErrorCode::kAborted,
      fmt::format("the DMA queue of {} is off since a reset of it failed", to_string(link_.bdf())));
}

Status DmaQueue::disable(Instant deadline) {
  if (auto ok = link_.alive(); !ok) return ok;
  link_.write(abi::DmaQueueControl{});
  return wait_for_status(deadline, "to become idle");
}

Status DmaQueue::drain(Instant deadline) {
  if (stopped_.load(std::memory_order_relaxed)) return stopped_error();
  const auto status = link_.read<abi::DmaQueueStatus>();
  if (!status) return forward_error(status);
  if (status->get<abi::DmaQueueStatus::Halted>()) {
    return fail(ErrorCode::kDeviceFault,
                fmt::format("the DMA queue of {} has halted", to_string(link_.bdf())));
  }
  if (auto ok = wait_consumed(submitted(), deadline); !ok) return ok;
  return wait_for_status(deadline, "to finish");
}

Status DmaQueue::wait_for_status(Instant deadline, const char* what) {
  auto& clock = link_.clock();
  for (;;) {
    const auto status = link_.read<abi::DmaQueueStatus>();
    if (!status) return forward_error(status);
    if (status->get<abi::DmaQueueStatus::Idle>()) return {};
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("{}: waited for the DMA queue {}", to_string(link_.bdf()), what));
    }
    clock.relax({}, deadline);
  }
}

// Whoever holds the lock has seen the gate open and is done with it when the lock is free again.
Status DmaQueue::close_gate(Instant deadline) {
  gate_closed_.store(true, std::memory_order_relaxed);
  if (!lock_.try_lock_until(link_.clock(), deadline)) {
    open_gate();
    return fail(ErrorCode::kTimeout, "waited for other submissions");
  }
  lock_.unlock();
  return {};
}

void DmaQueue::open_gate() {
  const MutexHolder holder(*gate_mutex_);
  gate_closed_.store(false, std::memory_order_relaxed);
  gate_opened_->notify_all();
}

Status DmaQueue::wait_at_gate(Picoseconds timeout, Instant deadline) {
  const MutexHolder holder(*gate_mutex_);
  while (gate_closed_.load(std::memory_order_relaxed)) {
    if (gate_opened_->wait(*gate_mutex_, deadline)) continue;
    if (!gate_closed_.load(std::memory_order_relaxed)) break;
    return fail(ErrorCode::kTimeout,
                fmt::format("{}: submissions held up for {} us while device memory is compacted "
                            "or the queue is reset",
                            to_string(link_.bdf()), timeout.count() / 1'000'000));
  }
  return {};
}

}  // namespace npu::driver
