// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/page_mover.hpp"

#include <utility>

namespace npu::driver {

Status PageMover::open() {
  const MutexHolder holder(*device_.control);
  const auto stream = device_.streams->create(StreamOptions{}, abi::kVmidPhysical);
  if (!stream) return forward_error(stream);
  stream_ = *stream;
  return {};
}

void PageMover::close() {
  if (!stream_) return;
  const MutexHolder holder(*device_.control);
  auto& stream = *device_.streams->find(*stream_);
  const auto last = QueueMark::from_raw(stream.submitted.load(std::memory_order_relaxed));
  const auto deadline = device_.ready_deadline();
  if (!device_.queue->wait_consumed(last, deadline)) return;
  if (!device_.streams->finish(*stream_, deadline)) return;
  if (!device_.events->destroy(stream.event)) return;
  stream.used.store(false, std::memory_order_release);
  stream_.reset();
}

Status PageMover::submit(const DmaCommand& command) {
  auto& stream = *device_.streams->find(*stream_);
  DmaRequest request;
  request.stream = *stream_;
  request.command = command;
  request.event = stream.event;
  request.interrupt = true;
  request.privileged = true;
  const auto ticket = device_.queue->submit(request, device_.options.submit_timeout);
  if (!ticket) return forward_error(ticket);
  stream.note_submitted(QueueMark::behind(*ticket));
  begun_.push_back(*ticket);
  return {};
}

Status PageMover::wait() {
  if (begun_.empty()) return {};
  auto& stream = *device_.streams->find(*stream_);
  const WaitContext context{stream.vector, stream.predictor.get()};
  const auto policy = stream.vector != nullptr ? WaitPolicy::kInterrupt : WaitPolicy::kPolling;
  Status first;
  for (const auto& ticket : std::exchange(begun_, {})) {
    auto ok = device_.waiter->wait(ticket, context, policy, device_.ready_deadline());
    if (!ok && first) first = std::move(ok);
  }
  return first;
}

}  // namespace npu::driver
