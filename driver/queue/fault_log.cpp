// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/fault_log.hpp"

#include <cstring>

#include "npu/abi/registers.hpp"

namespace npu::driver {

Result<std::unique_ptr<QueueFaultLog>> QueueFaultLog::create(CardLink& link,
                                                             ManagerCounters& counters) {
  auto memory = link.platform().allocate_dma(link.bdf(), kRecords * abi::kQueueFaultSize, 4096,
                                             platform::DmaDirection::kDeviceWrites);
  if (!memory) return forward_error(memory);
  return std::unique_ptr<QueueFaultLog>(new QueueFaultLog(link, counters, std::move(*memory)));
}

// The card numbers its faults since its reset; an earlier owner may have had some.
void QueueFaultLog::start(unsigned vector) {
  abi::QueueFaultControl control;
  control.set<abi::QueueFaultControl::Log2Records>(kLog2Records);
  control.set<abi::QueueFaultControl::Vector>(vector);
  link_.write(control);
  link_.write(abi::QueueFaultBase::from_raw(memory_->bus().value));
  const auto before = link_.read<abi::QueueFaultCount>();
  if (before) next_.store(before->raw + std::uint64_t{1}, std::memory_order_release);
  counters_.mmio_writes.fetch_add(2, std::memory_order_relaxed);
  counters_.mmio_reads.fetch_add(1, std::memory_order_relaxed);
}

void QueueFaultLog::stop() {
  if (!link_.lost()) link_.write(abi::QueueFaultBase::from_raw(0));
}

QueueFault QueueFaultLog::decode(std::uint64_t number) const {
  std::uint64_t words[abi::kQueueFaultSize / 8];
  Bytes at = place_of(number);
  for (auto& word : words) {
    word = memory_->load<std::uint64_t>(at);
    at += sizeof word;
  }
  abi::QueueFaultRecord record;
  static_assert(sizeof record == sizeof words);
  std::memcpy(&record, words, sizeof record);
  QueueFault fault;
  fault.code = static_cast<abi::FaultCode>(record.code);
  fault.pasid = record.pasid;
  if (record.queue != abi::kNoQueue) fault.queue = QueueId{record.queue};
  fault.index = record.index;
  fault.address = record.address;
  fault.tag = record.tag;
  fault.page = record.page;
  fault.doorbell = record.doorbell;
  fault.opcode = record.opcode;
  fault.write = record.write != 0;
  fault.host = (record.flags & abi::kFaultHost) != 0;
  fault.continued = (record.flags & abi::kFaultContinued) != 0;
  if (record.core != 0) fault.core = record.core - 1U;
  fault.block = record.block;
  fault.size = record.size;
  if (record.instruction != 0) {
    fault.instruction = abi::InstructionPlace::unpack(record.instruction);
  }
  fault.device_time = Picoseconds(static_cast<std::int64_t>(record.time_ns) * 1000);
  return fault;
}

// A record may be overwritten while it is read: then its number has changed behind it.
std::vector<QueueFault> QueueFaultLog::read() {
  std::vector<QueueFault> faults;
  auto next = next_.load(std::memory_order_relaxed);
  for (;;) {
    const auto number = number_at(next);
    if (number < next) break;
    if (number > next) {
      const auto oldest = number - kRecords + 1;  // that has not been overwritten
      counters_.faults_lost.fetch_add(oldest - next, std::memory_order_relaxed);
      next = oldest;
      continue;
    }
    link_.platform().read_barrier();
    auto fault = decode(next);
    link_.platform().read_barrier();
    if (number_at(next) != next) continue;
    faults.push_back(fault);
    ++next;
  }
  next_.store(next, std::memory_order_release);
  counters_.faults.fetch_add(faults.size(), std::memory_order_relaxed);
  return faults;
}

// What the card has written before its answer is in host memory by then, or lost.
std::vector<QueueFault> QueueFaultLog::read_behind_lost() {
  const auto count = link_.read<abi::QueueFaultCount>();
  counters_.mmio_reads.fetch_add(1, std::memory_order_relaxed);
  auto faults = read();
  if (!count) return faults;
  for (;;) {
    const auto next = next_.load(std::memory_order_relaxed);
    // The register has the lower half of the last one's number.
    const auto left = static_cast<std::int32_t>(count->raw + 1 - static_cast<std::uint32_t>(next));
    if (left <= 0) return faults;
    const auto behind = static_cast<std::uint64_t>(left);
    const auto lost = behind > kRecords ? behind - kRecords : 1;
    counters_.faults_lost.fetch_add(lost, std::memory_order_relaxed);
    next_.store(next + lost, std::memory_order_release);
    for (const auto& fault : read()) faults.push_back(fault);
  }
}

}  // namespace npu::driver
