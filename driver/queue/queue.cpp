// SPDX-License-Identifier: Apache-2.0
// Queue: what its user may call.
#include "driver/queue/process_impl.hpp"

namespace npu::driver {

Queue::Queue(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Queue::~Queue() {
  auto& process = impl_->process;
  const auto deadline = process.link.clock().now() + process.options.drain_timeout;
  static_cast<void>(process.endings.destroy(*impl_->channel, deadline, true));
  impl_->channel.reset();
  process.leave();
}

QueueId Queue::id() const {
  return impl_->channel->id();
}
std::uint16_t Queue::doorbell() const {
  return impl_->channel->doorbell();
}
bool Queue::faulted() const {
  return impl_->channel->faulted();
}

Result<QueueTicket> Queue::submit(const abi::QueueEntry& entry, Instant deadline,
                                  const QueueEntryOptions& options) {
  return impl_->channel->submit(&entry, 1, deadline, options);
}
Result<QueueTicket> Queue::submit(const abi::QueueEntry* entries, std::size_t count,
                                  Instant deadline, const QueueEntryOptions& options) {
  return impl_->channel->submit(entries, count, deadline, options);
}
Result<bool> Queue::is_done(const QueueTicket& ticket) {
  return impl_->channel->is_done(ticket);
}
Status Queue::wait(const QueueTicket& ticket, WaitPolicy policy, Instant deadline) {
  return impl_->channel->wait(ticket, policy, deadline);
}
QueueCounters Queue::counters() const {
  return impl_->channel->counters();
}

}  // namespace npu::driver
