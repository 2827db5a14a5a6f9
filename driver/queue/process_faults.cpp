// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/process_faults.hpp"

#include <algorithm>

namespace npu::driver {
namespace {

constexpr std::size_t kMaxFaults = 1024;  // kept for take(), and for the handler

void keep(std::deque<QueueFault>& list, const QueueFault& fault) {
  if (list.size() == kMaxFaults) list.pop_front();
  list.push_back(fault);
}

}  // namespace

void ProcessFaults::add(QueueId id, QueueChannel& channel) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  channels_.emplace_back(id, &channel);
}

void ProcessFaults::remove(const QueueChannel& channel) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  const auto is_it = [&](const auto& known) { return known.second == &channel; };
  channels_.erase(std::remove_if(channels_.begin(), channels_.end(), is_it), channels_.end());
}

void ProcessFaults::set_handler(Handler handler) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  handler_ = std::move(handler);
}

void ProcessFaults::note(const QueueFault& fault) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  for (const auto& [id, channel] : channels_) {
    if (fault.queue && id == *fault.queue) channel->note_fault(fault);
  }
  keep(faults_, fault);
  if (handler_) keep(undelivered_, fault);
}

bool ProcessFaults::is_known_to(QueueId id) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  for (const auto& [queue, channel] : channels_) {
    if (queue == id) return channel->faulted();
  }
  return true;
}

void ProcessFaults::deliver() {
  for (;;) {
    Handler call;
    QueueFault fault;
    {
      lock_.lock(clock_);
      const SpinLockHolder holder(lock_);
      if (undelivered_.empty()) return;
      fault = undelivered_.front();
      undelivered_.pop_front();
      call = handler_;
    }
    if (call) call(fault);
  }
}

bool ProcessFaults::empty() {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  return faults_.empty();
}

std::vector<QueueFault> ProcessFaults::take() {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  std::vector<QueueFault> result(faults_.begin(), faults_.end());
  faults_.clear();
  return result;
}

std::vector<QueueFault> ProcessFaults::take(QueueId queue) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  const auto others = [queue](const QueueFault& fault) {
    return !fault.queue || *fault.queue != queue;
  };
  const auto first = std::stable_partition(faults_.begin(), faults_.end(), others);
  std::vector<QueueFault> result(first, faults_.end());
  faults_.erase(first, faults_.end());
  return result;
}

}  // namespace npu::driver
