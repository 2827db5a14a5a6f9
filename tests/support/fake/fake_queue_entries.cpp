// SPDX-License-Identifier: Apache-2.0
// FakeQueues: what entries do. One after another within a queue, which every queue allows.
#include <algorithm>
#include <cstring>

#include "tests/support/fake/fake_queues.hpp"

namespace npu::test {

using abi::FaultCode;
using abi::QueueOpcode;

void FakeQueues::resume() {
  paused = false;
  paused_queues.clear();
  for (auto& [id, queue] : queues_) start(id);
}

void FakeQueues::start(std::uint32_t id) {
  auto& queue = queues_.at(id);
  if (queue.suspended || queue.faulted || queue.running || queue.waiting || paused ||
      paused_queues.count(id) != 0 || queue.mqd.read_index == queue.mqd.write_index) {
    return;
  }
  const auto place = queue.mqd.read_index & ((1ULL << queue.mqd.log2_ring) - 1);
  abi::QueueEntry entry;
  const bool host = (queue.mqd.flags & abi::kQueueRingHost) != 0;
  const auto read =
      move(queue, host, queue.mqd.ring_base + place * sizeof entry, &entry, sizeof entry, false);
  if (read.fault != FaultCode::kNone) return fault(queue, read, nullptr);
  if (!well_formed(entry)) {
    ++queue.mqd.read_index;
    return complete(id, entry, {FaultCode::kMalformedEntry, 0, false, false});
  }
  run(id, entry);
}

// Of a signal in memory.
std::uint64_t FakeQueues::signal_address(const abi::QueueEntry& entry) {
  return entry.opcode == 0x21 ? entry.get<abi::MemoryWaitPayload>().address
                              : entry.get<abi::MemorySignalPayload>().address;
}

bool FakeQueues::well_formed(const abi::QueueEntry& entry) const {
  if (entry.format != 1 || (entry.flags & ~abi::kEntryFlags) != 0) return false;
  const bool in_memory = (entry.flags & abi::kEntryMemorySignal) != 0;
  const bool signal = entry.opcode == 0x20 || entry.opcode == 0x21;
  if (in_memory && (!signal || signal_address(entry) % 8 != 0)) return false;
  const auto copy = entry.get<abi::ReducePayload>();
  const auto fill = entry.get<abi::FillPayload>();
  const auto launch = entry.get<abi::LaunchPayload>();
  if (const auto* const operation = abi::find_dma_operation(entry.opcode)) {
    // The fake's engines compute nothing.
    if (operation->target == abi::DmaSide::kCache && copy.destination != 0) return false;
    if (operation->source != abi::DmaSide::kPattern) return copy.size != 0 && copy.operation == 0;
    return fill.size != 0 && fill.size % 4 == 0 && fill.destination % 4 == 0;
  }
  switch (static_cast<QueueOpcode>(entry.opcode)) {
    case QueueOpcode::kLaunchAiCore:
    case QueueOpcode::kLaunchAicpu:
      return launch.blocks != 0 && launch.arguments % 64 == 0 && launch.image % 64 == 0 &&
             launch.argument_bytes <= 4096 && launch.mixed <= (entry.opcode == 0x10 ? 1U : 0U) &&
             (entry.opcode == 0x10 || launch.timeout_us == 0);
    case QueueOpcode::kEventWait:
      return entry.get<abi::WaitPayload>().condition <= 2;
    case QueueOpcode::kTimestamp:
      return entry.get<abi::TimestampPayload>().address % 8 == 0;
    case QueueOpcode::kEventRecord:
    case QueueOpcode::kNotify:
    case QueueOpcode::kBarrier:
    case QueueOpcode::kNop:
      return true;
    default:
      return false;
  }
}

void FakeQueues::run(std::uint32_t id, const abi::QueueEntry& entry) {
  auto& queue = queues_.at(id);
  const auto now = host_.scheduler.now();
  if (static_cast<QueueOpcode>(entry.opcode) == QueueOpcode::kEventWait) {
    const auto wait = entry.get<abi::WaitPayload>();
    Access result;
    const bool met = is_met(queue, entry, result);
    if (!met && result.fault == FaultCode::kNone) {
      queue.waiting = true;
      if (wait.timeout_ns == 0) return;
      const auto end = now + Picoseconds(static_cast<std::int64_t>(wait.timeout_ns) * 1000);
      host_.scheduler.at(
          end, [this, id, entry, index = queue.mqd.read_index, generation = queue.generation] {
            const auto found = queues_.find(id);
            if (found == queues_.end() || found->second.generation != generation) return;
            auto& waiter = found->second;
            if (!waiter.waiting || waiter.mqd.read_index != index) return;
            waiter.waiting = false;
            ++waiter.mqd.read_index;
            const bool in_memory = (entry.flags & abi::kEntryMemorySignal) != 0;
            complete(
                id, entry,
                {in_memory ? FaultCode::kSignalTimeout : FaultCode::kWaitTimeout, 0, false, false});
          });
      return;
    }
    ++queue.mqd.read_index;
    return complete(id, entry, result);
  }
  queue.running = true;
  ++queue.mqd.read_index;
  host_.scheduler.at(now + entry_latency(entry), [this, id, entry, generation = queue.generation] {
    const auto found = queues_.find(id);
    if (found == queues_.end() || found->second.generation != generation) return;
    if (!found->second.running) return;
    found->second.running = false;
    complete(id, entry, perform(found->second, entry));
  });
}

void FakeQueues::complete(std::uint32_t id, const abi::QueueEntry& entry, Access result) {
  auto& queue = queues_.at(id);
  auto& mqd = queue.mqd;
  executed_.push_back({id, mqd.read_index - 1, entry});
  ++mqd.completed;
  const bool failed = result.fault != FaultCode::kNone;
  if (mqd.read_index_address != 0) {
    move(queue, true, mqd.read_index_address, &mqd.read_index, 8, true);
  }
  if (failed || (entry.flags & abi::kEntryCompletion) != 0) {
    abi::QueueCompletion completion;
    completion.read_index = mqd.read_index;
    completion.tag = entry.tag;
    completion.status = static_cast<std::uint16_t>(result.fault);
    if (failed && continued(entry, result.fault)) completion.phase |= abi::kCompletionContinued;
    completion.phase = (mqd.completion_index >> mqd.log2_completions & 1) != 0 ? 0 : 1;
    const auto place = mqd.completion_index++ & ((1ULL << mqd.log2_completions) - 1);
    const bool host = (mqd.flags & abi::kQueueCompletionHost) != 0;
    const auto written = move(queue, host, mqd.completion_base + 16 * place, &completion, 16, true);
    if (written.fault != FaultCode::kNone && !failed) {
      result = written;
      result.fault = FaultCode::kCompletionRing;
    }
  }
  const bool notify = static_cast<QueueOpcode>(entry.opcode) == QueueOpcode::kNotify;
  if (result.fault != FaultCode::kNone && result.fault != FaultCode::kWaitTimeout) {
    fault(queue, result, &entry);
    if (!continued(entry, result.fault)) return;
  }
  if (notify || failed || (entry.flags & abi::kEntryInterrupt) != 0) host_.raise(mqd.vector);
  start(id);
}

FakeQueues::Access FakeQueues::move(const Queue& queue, bool host, std::uint64_t address,
                                    void* data, std::size_t size, bool write) {
  if (host) {
    auto* bytes = host_.host.find(address, size, queue.mqd.pasid);
    if (bytes == nullptr) return {FaultCode::kHostAddress, address, write, true};
    std::memcpy(write ? static_cast<void*>(bytes) : data, write ? data : bytes, size);
    return {};
  }
  for (std::size_t done = 0; done < size;) {
    const auto at = host_.mmu.translate(queue.mqd.vmid, address + done, write);
    if (at.fault != FaultCode::kNone) return {at.fault, address + done, write, false};
    const auto part = static_cast<std::size_t>(std::min<Bytes>(size - done, at.length));
    auto* bytes = static_cast<std::byte*>(data) + done;
    if (write) host_.memory.write(at.address, bytes, part);
    if (!write) host_.memory.read(at.address, bytes, part);
    done += part;
  }
  return {};
}

FakeQueues::Access FakeQueues::copy(const Queue& queue, const abi::QueueEntry& entry) {
  const auto payload = entry.get<abi::CopyPayload>();
  std::vector<std::byte> bytes(static_cast<std::size_t>(payload.size));
  const auto& operation = *abi::find_dma_operation(entry.opcode);
  if (operation.peer) return {FaultCode::kNoPeer, payload.destination, true};
  const auto read = move(queue, operation.source == abi::DmaSide::kHost, payload.source,
                         bytes.data(), bytes.size(), false);
  if (read.fault != FaultCode::kNone || operation.target == abi::DmaSide::kCache) return read;
  return move(queue, operation.target == abi::DmaSide::kHost, payload.destination, bytes.data(),
              bytes.size(), true);
}

FakeQueues::Access FakeQueues::perform(Queue& queue, const abi::QueueEntry& entry) {
  const auto opcode = static_cast<QueueOpcode>(entry.opcode);
  if (const auto* const operation = abi::find_dma_operation(entry.opcode)) {
    if (operation->source != abi::DmaSide::kPattern) return copy(queue, entry);
    const auto fill = entry.get<abi::FillPayload>();
    std::vector<std::uint32_t> words(static_cast<std::size_t>(fill.size / 4), fill.pattern);
    return move(queue, false, fill.destination, words.data(), words.size() * 4, true);
  }
  if (opcode == QueueOpcode::kTimestamp) {
    auto time = static_cast<std::uint64_t>(host_.scheduler.now().since_power_up().count() / 1000);
    return move(queue, (entry.flags & abi::kEntryHostAddress) != 0,
                entry.get<abi::TimestampPayload>().address, &time, 8, true);
  }
  if (opcode == QueueOpcode::kEventRecord) {
    auto record = entry.get<abi::SignalPayload>();
    if ((entry.flags & abi::kEntryMemorySignal) != 0) {
      const auto there = move(queue, false, signal_address(entry), &record.value, 8, true);
      wake_waiters(queue.mqd.pasid);
      return there;
    }
    if (record.slot >= queue.mqd.signal_slots)
      return {FaultCode::kInvalidSignal, record.slot, true};
    const auto result = move(queue, (queue.mqd.flags & abi::kQueueSignalHost) != 0,
                             queue.mqd.signal_base + 8 * record.slot, &record.value, 8, true);
    wake_waiters(queue.mqd.pasid);
    return result;
  }
  if (opcode == QueueOpcode::kLaunchAiCore) {
    std::vector<std::byte> arguments(entry.get<abi::LaunchPayload>().argument_bytes);
    return move(queue, false, entry.get<abi::LaunchPayload>().arguments, arguments.data(),
                arguments.size(), false);
  }
  return {};
}

bool FakeQueues::is_met(Queue& queue, const abi::QueueEntry& entry, Access& result) {
  const auto wait = entry.get<abi::WaitPayload>();
  const bool in_memory = (entry.flags & abi::kEntryMemorySignal) != 0;
  if (!in_memory && wait.slot >= queue.mqd.signal_slots) {
    result = {FaultCode::kInvalidSignal, wait.slot, false, false};
    return false;
  }
  std::uint64_t value = 0;
  result = in_memory ? move(queue, false, signal_address(entry), &value, 8, false)
                     : move(queue, (queue.mqd.flags & abi::kQueueSignalHost) != 0,
                            queue.mqd.signal_base + 8 * wait.slot, &value, 8, false);
  if (result.fault != FaultCode::kNone) return false;
  if (wait.condition == 0) return static_cast<std::int64_t>(value - wait.value) >= 0;
  return (value == wait.value) == (wait.condition == 1);
}

void FakeQueues::wake_waiters(std::uint32_t pasid) {
  for (auto& [id, queue] : queues_) {
    if (queue.mqd.pasid != pasid || !queue.waiting) continue;
    queue.waiting = false;
    start(id);
  }
}

bool FakeQueues::continued(const abi::QueueEntry& entry, FaultCode fault) {
  return (entry.flags & abi::kEntryContinueOnError) != 0 && fault != FaultCode::kMalformedEntry &&
         fault != FaultCode::kCompletionRing;
}

void FakeQueues::fault(Queue& queue, const Access& access, const abi::QueueEntry* entry) {
  const bool stops = entry == nullptr || !continued(*entry, access.fault);
  if (stops) {
    queue.faulted = true;
    queue.mqd.error = static_cast<std::uint16_t>(access.fault);
    queue.mqd.error_index = queue.mqd.read_index - (entry != nullptr ? 1 : 0);
    queue.mqd.error_address = access.address;
    write_state(queue);
  }
  abi::QueueFaultRecord record;
  record.code = static_cast<std::uint16_t>(access.fault);
  record.address = access.address;
  record.index = queue.mqd.read_index - (entry != nullptr ? 1 : 0);
  record.pasid = queue.mqd.pasid;
  record.vmid = queue.mqd.vmid;
  record.queue = queue.mqd.queue_id;
  record.doorbell = queue.mqd.doorbell;
  record.page = static_cast<std::uint16_t>(processes_.at(queue.mqd.pasid).page);
  record.write = access.write ? 1 : 0;
  record.flags = access.host ? abi::kFaultHost : 0;
  if (!stops) record.flags |= abi::kFaultContinued;
  if (entry != nullptr) {
    record.opcode = entry->opcode;
    record.tag = entry->tag;
  }
  report(record, queue.mqd.vector);
}

}  // namespace npu::test
