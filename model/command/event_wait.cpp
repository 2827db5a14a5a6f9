// SPDX-License-Identifier: Apache-2.0
#include "model/command/event_wait.hpp"

#include <cstring>

#include "model/command/memory_signals.hpp"
#include "model/command/signal_unit.hpp"

namespace npu::model {

using abi::FaultCode;

void EventWait::start(HardwareQueue& queue, const QueueCommand& command) {
  queue_ = &queue;
  cause_ = command.cause;
  const auto payload = command.entry.get<abi::WaitPayload>();
  auto& wait = queue.wait;
  if (wait.index != command.index) {  // not one that goes on after the queue has been unloaded
    wait.index = command.index;
    wait.since = sim_now();
    const bool limited = payload.timeout_ns != 0 && payload.timeout_ns < UINT64_MAX / 4000;
    wait.deadline = limited ? sim_now() + 1000 * payload.timeout_ns : UINT64_MAX;
  }
  wait.payload = payload;
  wait.in_memory = (command.entry.flags & abi::kEntryMemorySignal) != 0;
  if (wait.in_memory) {
    wait.place = queue.memory_place(command.entry.get<abi::MemoryWaitPayload>().address);
    known_ = shared_.memory_signals->watch(queue);
  } else {
    wait.place = queue.signal_place(payload.slot);
  }
  read_signal();
}

void EventWait::read_signal() {
  if (reading_) return;
  parked_ = false;
  if (queue_->wait.active) shared_.signals->unpark(*queue_);
  reading_ = true;
  shared_.memory.read<&EventWait::signal_read>(queue_->wait.place, abi::kSignalSize, cause_, *this,
                                               queue_->process->signals);
}

void EventWait::signal_read(const Answer& answer, std::uint64_t seen) {
  reading_ = false;
  if (!owner_.keeps_waiting()) return;
  if (!answer.ok()) {
    return owner_.wait_failed({answer.code(), answer.address, queue_->mqd.vmid, false},
                              answer.host);
  }
  std::uint64_t value = 0;
  std::memcpy(&value, answer.data, sizeof value);
  if (SignalUnit::met(queue_->wait, value)) {
    end(FaultCode::kNone);
  } else if (queue_->wait.in_memory && !known_) {
    owner_.wait_failed({FaultCode::kInvalidSignal, answer.address, queue_->mqd.vmid, false}, false);
  } else if (sim_now() >= queue_->wait.deadline) {
    end_late();
  } else if (queue_->process->signals != seen) {
    read_signal();  // it may have been written since
  } else {
    parked_ = true;
    shared_.signals->park(*queue_);
  }
}

void EventWait::signal_value(std::uint64_t value) {
  if (parked_ && SignalUnit::met(queue_->wait, value)) end(FaultCode::kNone);
}

void EventWait::expired() {
  if (parked_) end_late();
}

void EventWait::end_late() {
  end(queue_->wait.in_memory ? FaultCode::kSignalTimeout : FaultCode::kWaitTimeout);
}

void EventWait::end(FaultCode status) {
  parked_ = false;
  shared_.signals->unpark(*queue_);
  if (queue_->wait.in_memory) shared_.memory_signals->unwatch(*queue_);
  queue_->wait.index = UINT64_MAX;
  owner_.wait_over(status);
}

}  // namespace npu::model
