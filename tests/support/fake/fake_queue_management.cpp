// SPDX-License-Identifier: Apache-2.0
// FakeQueues: registers, doorbells, management commands, the fault log.
#include <cstring>

#include "npu/abi/page_table.hpp"
#include "npu/abi/registers.hpp"
#include "tests/support/fake/fake_queues.hpp"

namespace npu::test {

using abi::FaultCode;
using abi::ManagementOpcode;
using abi::ManagementStatus;

void FakeQueues::reset() {
  processes_.clear();
  queues_.clear();
  enabled_ = busy_ = false;
  told_ = done_ = 0;
  faults_ = 0;
  ++run_;
}

void FakeQueues::register_written(Bytes offset, std::uint64_t value) {
  if (offset == abi::ManagementControl::kOffset) {
    enabled_ = (value & 1) != 0;
    busy_ = false;
    told_ = done_ = 0;
    ++run_;
    show_progress();
  }
  if (offset == abi::ManagementDoorbell::kOffset && enabled_) {
    const auto log2 = host_.get_register(abi::ManagementControl::kOffset, 4) >> 8 & 15;
    if (static_cast<std::uint32_t>(value) - done_ > 1U << log2) {
      violations_.emplace_back("management doorbell beyond the ring");
      return;
    }
    told_ = static_cast<std::uint32_t>(value);
    show_progress();
    if (!busy_) execute_next();
  }
}

// Idle with nothing to do; one that is stuck has.
void FakeQueues::show_progress() {
  constexpr std::uint64_t kEnabled = 1, kIdle = 2;
  const std::uint64_t status = (enabled_ ? kEnabled : 0) | (done_ == told_ ? kIdle : 0);
  host_.set_register(abi::ManagementStatusRegister::kOffset, 4, status);
  host_.set_register(abi::ManagementConsumer::kOffset, 4, done_);
}

void FakeQueues::execute_next() {
  busy_ = enabled_ && done_ != told_ && !stuck;
  if (!busy_) return;
  const auto run = run_;
  host_.scheduler.at(host_.scheduler.now() + command_latency, [this, run] {
    if (run != run_) return;
    const auto log2 = host_.get_register(abi::ManagementControl::kOffset, 4) >> 8 & 15;
    const auto base = host_.get_register(abi::ManagementBase::kOffset, 8);
    const auto* bytes = host_.host.find(base + 64 * (done_ & ((1U << log2) - 1)), 64);
    abi::ManagementCommand command;
    if (bytes == nullptr) return violations_.emplace_back("management ring not readable"), void();
    std::memcpy(&command, bytes, sizeof command);
    if (stuck_opcodes.count(command.opcode) == 0) execute(command);
  });
}

void FakeQueues::finish(const abi::ManagementCommand& command, ManagementStatus status) {
  ++done_;
  abi::ManagementResponse response;
  response.fence_value = command.fence_value;
  response.status = static_cast<std::uint32_t>(status);
  const auto queue = queues_.find(command.queue);
  if (queue != queues_.end()) response.detail = queue->second.mqd.state;
  if (command.fence_address != 0 && !loses_answers) {
    auto* bytes = host_.host.find(command.fence_address, sizeof response);
    if (bytes != nullptr) std::memcpy(bytes, &response, sizeof response);
  }
  if (command.flags & abi::kManagementInterrupt) host_.raise(command.vector);
  show_progress();
  execute_next();
}

void FakeQueues::execute(const abi::ManagementCommand& command) {
  commands_.push_back(command.opcode);
  const auto refusal = refusals.find(command.opcode);
  if (refusal != refusals.end()) return finish(command, refusal->second);
  std::vector<std::uint32_t> ids;
  const auto selected = select(command, ids);
  switch (static_cast<ManagementOpcode>(command.opcode)) {
    case ManagementOpcode::kMapProcess:
      return finish(command, map_process(command));
    case ManagementOpcode::kUnmapProcess:
      return finish(command, unmap_process(command));
    case ManagementOpcode::kAddQueue:
      return finish(command, add_queue(command));
    case ManagementOpcode::kRemoveQueue:
    case ManagementOpcode::kUpdateQueue:
    case ManagementOpcode::kSuspend:
      if (selected != ManagementStatus::kSuccess) return finish(command, selected);
      return take_out(command, ids);
    case ManagementOpcode::kResume:
      return finish(command,
                    selected == ManagementStatus::kSuccess ? resume_queues(ids) : selected);
    case ManagementOpcode::kQueryQueue: {
      const auto found = queues_.find(command.queue);
      if (found == queues_.end()) return finish(command, ManagementStatus::kInvalidQueue);
      write_state(found->second);
      return finish(command, ManagementStatus::kSuccess);
    }
    case ManagementOpcode::kFence:
    case ManagementOpcode::kScrub:
      return finish(command, ManagementStatus::kSuccess);
  }
  finish(command, ManagementStatus::kInvalidCommand);
}

ManagementStatus FakeQueues::map_process(const abi::ManagementCommand& command) {
  if (command.pasid == 0 || command.pasid >> 20 != 0 || command.vmid == 0 ||
      command.vmid >= abi::kVmids || command.vector >= host_.vectors ||
      processes_.count(command.pasid) != 0) {
    return ManagementStatus::kInvalidProcess;
  }
  for (const auto& [pasid, process] : processes_) {
    if (process.vmid == command.vmid) return ManagementStatus::kInvalidProcess;
    if (process.page == command.page) return ManagementStatus::kInvalidPage;
  }
  if (command.page >= host_.pages) return ManagementStatus::kInvalidPage;
  processes_[command.pasid] = {command.vmid, command.page, command.vector};
  return ManagementStatus::kSuccess;
}

ManagementStatus FakeQueues::unmap_process(const abi::ManagementCommand& command) {
  if (processes_.count(command.pasid) == 0) return ManagementStatus::kInvalidProcess;
  for (const auto& [id, queue] : queues_) {
    if (queue.mqd.pasid == command.pasid) return ManagementStatus::kProcessBusy;
  }
  processes_.erase(command.pasid);
  return ManagementStatus::kSuccess;
}

bool FakeQueues::is_valid(const abi::QueueDescriptor& mqd) const {
  const auto process = processes_.find(mqd.pasid);
  return process != processes_.end() && mqd.vmid == process->second.vmid && mqd.format == 1 &&
         (mqd.flags & ~0x1F) == 0 && mqd.ring_base != 0 && mqd.ring_base % 64 == 0 &&
         mqd.completion_base % 16 == 0 && mqd.log2_ring >= 2 && mqd.log2_ring <= 16 &&
         mqd.log2_completions >= mqd.log2_ring && mqd.log2_completions <= 16 &&
         mqd.priority <= 15 && mqd.doorbell <= 510 && mqd.vector < host_.vectors &&
         mqd.signal_slots <= 4096 && mqd.percentage >= 1 && mqd.percentage <= 100 &&
         mqd.reserved0[0] == 0 && mqd.reserved1[0] == 0;
}

ManagementStatus FakeQueues::add_queue(const abi::ManagementCommand& command) {
  if (command.queue >= abi::kMaxQueues || queues_.count(command.queue) != 0) {
    return ManagementStatus::kInvalidQueue;
  }
  Queue queue;
  host_.memory.read(command.address, &queue.mqd, sizeof queue.mqd);
  queue.address = command.address;
  if (command.address % 256 != 0 || queue.mqd.queue_id != command.queue || !is_valid(queue.mqd)) {
    return ManagementStatus::kInvalidDescriptor;
  }
  for (const auto& [id, other] : queues_) {
    if (other.mqd.pasid == queue.mqd.pasid && other.mqd.doorbell == queue.mqd.doorbell) {
      return ManagementStatus::kDoorbellInUse;
    }
  }
  if (queue.mqd.read_index != 0 || queue.mqd.write_index != 0 || queue.mqd.completion_index != 0) {
    violations_.emplace_back("the card's half of a new descriptor is not zero");
  }
  queue.generation = ++generation_;
  queues_[command.queue] = queue;
  return ManagementStatus::kSuccess;
}

ManagementStatus FakeQueues::select(const abi::ManagementCommand& command,
                                    std::vector<std::uint32_t>& ids) const {
  const auto code = static_cast<ManagementOpcode>(command.opcode);
  const bool one = code == ManagementOpcode::kRemoveQueue ||
                   code == ManagementOpcode::kUpdateQueue || command.scope == 0;
  if (one) {
    if (queues_.count(command.queue) == 0) return ManagementStatus::kInvalidQueue;
    ids.push_back(command.queue);
    return ManagementStatus::kSuccess;
  }
  if (command.scope == 1 && processes_.count(command.pasid) == 0) {
    return ManagementStatus::kInvalidProcess;
  }
  for (const auto& [id, queue] : queues_) {
    if (command.scope == 2 || queue.mqd.pasid == command.pasid) ids.push_back(id);
  }
  return ManagementStatus::kSuccess;
}

// SUSPEND, UPDATE, REMOVE: answered when no entry runs.
void FakeQueues::take_out(const abi::ManagementCommand& command,
                          const std::vector<std::uint32_t>& ids) {
  bool out = true;
  for (const auto id : ids) {
    auto& queue = queues_.at(id);
    queue.suspended = true;
    queue.waiting = false;
    if (command.mode == 1) {
      queue.running = false;
      queue.generation = ++generation_;
    }
    out = out && !queue.running;
  }
  if (!out) {
    const auto run = run_;
    host_.scheduler.at(host_.scheduler.now() + 100_ns, [this, run, command, ids] {
      if (run == run_) take_out(command, ids);
    });
    return;
  }
  const auto code = static_cast<ManagementOpcode>(command.opcode);
  if (code == ManagementOpcode::kRemoveQueue) {
    queues_.erase(command.queue);
    return finish(command, ManagementStatus::kSuccess);
  }
  for (const auto id : ids) write_state(queues_.at(id));
  finish(command,
         code == ManagementOpcode::kUpdateQueue ? resume_queues(ids) : ManagementStatus::kSuccess);
}

ManagementStatus FakeQueues::resume_queues(const std::vector<std::uint32_t>& ids) {
  auto status = ManagementStatus::kSuccess;
  for (const auto id : ids) {
    auto& queue = queues_.at(id);
    abi::QueueDescriptor mqd = queue.mqd;
    host_.memory.read(queue.address, &mqd, abi::kQueueStateOffset);
    if (mqd.queue_id != id || mqd.doorbell != queue.mqd.doorbell || !is_valid(mqd)) {
      status = ManagementStatus::kInvalidDescriptor;
      continue;
    }
    queue.mqd = mqd;
    queue.suspended = false;
    start(id);
  }
  return status;
}

// The card's half.
void FakeQueues::write_state(Queue& queue) {
  const bool works = queue.mqd.read_index != queue.mqd.write_index || queue.running;
  queue.mqd.state = queue.faulted ? 3U : queue.suspended ? 2U : works ? 1U : 0U;
  const auto* bytes = reinterpret_cast<const std::byte*>(&queue.mqd);
  host_.memory.write(queue.address + 128, bytes + 128, 128);
}

void FakeQueues::memory_written(Bytes offset) {
  if (offset < host_.descriptors) return;
  const auto id = static_cast<std::uint32_t>((offset - host_.descriptors) / 256);
  const auto found = queues_.find(id);
  if (found == queues_.end()) return;
  if (!found->second.suspended) violations_.push_back("descriptor written while its queue may run");
  if ((offset - host_.descriptors) % 256 >= 128) {
    violations_.push_back("the card's half written while it has the queue");
  }
}

void FakeQueues::doorbell(Bytes offset, unsigned width, std::uint64_t value) {
  const auto page = static_cast<std::uint32_t>(offset / 4096);
  const auto number = static_cast<std::uint16_t>(offset % 4096 / 8);
  abi::QueueFaultRecord record;
  record.code = static_cast<std::uint16_t>(FaultCode::kDoorbellUnowned);
  record.address = value;
  record.queue = abi::kNoQueue;
  record.page = static_cast<std::uint16_t>(page);
  record.doorbell = number;
  for (const auto& [pasid, process] : processes_) {
    if (process.page != page) continue;
    if (number == abi::kSignalDoorbell) {
      if ((value & abi::kSignalWakesHost) != 0) host_.raise(process.vector);
      return wake_waiters(pasid);
    }
    for (auto& [id, queue] : queues_) {
      if (queue.mqd.pasid != pasid || queue.mqd.doorbell != number) continue;
      const auto last = queue.mqd.write_index;
      const auto index =
          width == 8 ? value : abi::extend_index(last, static_cast<std::uint32_t>(value));
      ++queue.mqd.doorbells;
      const Access bad{index < last ? FaultCode::kIndexBackwards : FaultCode::kIndexBeyondRing,
                       value, true, false};
      const auto ring = std::uint64_t{1} << queue.mqd.log2_ring;
      if (queue.faulted) return;
      if (index < last || index - queue.mqd.read_index > ring) return fault(queue, bad, nullptr);
      queue.mqd.write_index = index;
      return start(id);
    }
    record.pasid = pasid;
    record.vmid = process.vmid;
    return report(record, process.vector);
  }
  report(record,
         static_cast<unsigned>(host_.get_register(abi::QueueFaultControl::kOffset, 4) >> 16));
}

void FakeQueues::report(abi::QueueFaultRecord record, unsigned vector) {
  record.number = static_cast<std::uint32_t>(++faults_);
  record.time_ns =
      static_cast<std::uint64_t>(host_.scheduler.now().since_power_up().count() / 1000);
  host_.set_register(abi::QueueFaultCount::kOffset, 4, faults_);
  const auto base = host_.get_register(abi::QueueFaultBase::kOffset, 8);
  const auto records = 1ULL << (host_.get_register(abi::QueueFaultControl::kOffset, 4) & 15);
  if (base != 0 && !log_lost) {
    auto* bytes = host_.host.find(base + (faults_ - 1) % records * sizeof record, sizeof record);
    if (bytes != nullptr) std::memcpy(bytes, &record, sizeof record);
  }
  host_.raise(vector);
}

}  // namespace npu::test
