// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/queue_builder.hpp"

#include <fmt/format.h>

#include <utility>

#include "driver/queue/signals_impl.hpp"
#include "driver/support/choice.hpp"
#include "driver/support/impl_of.hpp"

namespace npu::driver {
namespace {

bool is_log2_ring(unsigned v) {
  return v >= abi::kMinLog2Ring && v <= abi::kMaxLog2Ring;
}

Status invalid(std::string what) {
  return fail(ErrorCode::kInvalidArgument, std::move(what));
}

}  // namespace

Status check_scheduling(unsigned priority, unsigned percentage, Picoseconds quantum,
                        const CoreMask& cores) {
  constexpr Picoseconds kLongest = 1000_s;
  if (priority > abi::kMaxQueuePriority) {
    return invalid(fmt::format("priority {}, 0 .. 15 are possible", priority));
  }
  if (percentage > 100) return invalid(fmt::format("{} % of the quantum", percentage));
  if (quantum < Picoseconds() || quantum > kLongest || quantum.count() % 1'000'000 != 0) {
    return invalid(fmt::format("a quantum of {} us", quantum.us()));
  }
  if (cores == CoreMask{}) return invalid("a core mask without a core");
  return {};
}

Status QueueBuilder::check_options(const QueueOptions& wanted) const {
  const auto completions =
      wanted.log2_completions == 0 ? wanted.ring.log2_entries : wanted.log2_completions;
  for (const auto& [field, memory] : {std::pair("ring.memory", wanted.ring.memory),
                                      std::pair("completion_memory", wanted.completion_memory)}) {
    if (auto ok = check_choice(field, memory, QueueMemory::kDevice); !ok) return ok;
  }
  if (!is_log2_ring(wanted.ring.log2_entries)) {
    return invalid(fmt::format("a ring of 2^{} entries, {} .. {} are possible",
                               wanted.ring.log2_entries, abi::kMinLog2Ring, abi::kMaxLog2Ring));
  }
  if (!is_log2_ring(completions) || completions < wanted.ring.log2_entries) {
    return invalid(fmt::format("2^{} completions for a ring of 2^{} entries", completions,
                               wanted.ring.log2_entries));
  }
  auto ok = check_scheduling(wanted.priority, wanted.percentage, wanted.quantum, wanted.core_mask);
  if (!ok) return ok;
  const auto cores = process_.group.within(wanted.core_mask);
  return cores ? Status() : forward_error(cores);
}

// What needs no lock: memory, ids, the descriptor.
Result<QueueDraft> QueueBuilder::prepare(const QueueOptions& wanted) {
  if (auto ok = check_options(wanted); !ok) return forward_error(ok);
  QueueDraft draft;
  draft.record = std::make_unique<QueueRecord>();
  auto& record = *draft.record;
  auto& parts = draft.parts;
  record.options = wanted;
  const auto id = manager_.queue_ids().allocate();
  if (!id) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("all {} queue ids of the card in use", abi::kMaxQueues));
  }
  record.id = PooledId(manager_.queue_ids(), *id);
  const auto doorbell = process_.doorbells.allocate();
  if (!doorbell) {
    return fail(ErrorCode::kOutOfResources, fmt::format("all {} doorbells of the process in use",
                                                        process_.doorbells.capacity()));
  }
  record.doorbell = PooledId(process_.doorbells, *doorbell);
  parts.id = record.queue_id();
  parts.device_index = manager_.link().device_index();
  parts.doorbells = process_.doorbell_page.get();
  parts.doorbell = static_cast<std::uint16_t>(*doorbell);
  parts.log2_ring = wanted.ring.log2_entries;
  parts.log2_completions =
      wanted.log2_completions == 0 ? wanted.ring.log2_entries : wanted.log2_completions;
  parts.adaptive = adaptive_;
  const auto make = [&](QueueMemory memory, Bytes size) {
    return QueueBuffer::create(manager_.link(), *process_.heap, process_.pasid.value(), memory,
                               size);
  };
  auto ring = make(wanted.ring.memory, Bytes{abi::kQueueEntrySize} << parts.log2_ring);
  if (!ring) return forward_error(ring);
  parts.ring = std::move(*ring);
  auto completions =
      make(wanted.completion_memory, Bytes{abi::kQueueCompletionSize} << parts.log2_completions);
  if (!completions) return forward_error(completions);
  parts.completions = std::move(*completions);
  if (wanted.indices_in_memory) {
    auto indices = make(QueueMemory::kHost, 16);
    if (!indices) return forward_error(indices);
    parts.indices = std::move(*indices);
  }
  const auto number =
      wanted.process_vector ? process_.vector_number : manager_.vector_number(*id + abi::kVmids);
  const auto opened = manager_.open_vector(number);
  if (!opened) return forward_error(opened);
  if (wanted.interrupt) parts.vector = *opened;
  record.descriptor.vector = static_cast<std::uint16_t>(number);
  fill_descriptor(record, parts);
  return draft;
}

void QueueBuilder::fill_descriptor(QueueRecord& record, const QueueChannelParts& parts) const {
  const auto& wanted = record.options;
  auto& mqd = record.descriptor;
  unsigned flags = abi::kQueueSignalHost;
  if (parts.ring.in_host_memory()) flags |= abi::kQueueRingHost;
  if (parts.completions.in_host_memory()) flags |= abi::kQueueCompletionHost;
  if (wanted.in_order) flags |= abi::kQueueInOrder;
  mqd.ring_base = parts.ring.address();
  mqd.completion_base = parts.completions.address();
  if (parts.indices) {
    flags |= abi::kQueueIndexHost;
    mqd.read_index_address = parts.indices.address();
    mqd.write_index_address = parts.indices.address() + 8;
  }
  mqd.flags = static_cast<std::uint16_t>(flags);
  mqd.queue_id = record.id.value();
  mqd.signal_base = impl_of(*process_.signals).bus_address();
  mqd.signal_slots = process_.signals->capacity();
  mqd.save_area = wanted.preemptible ? manager_.save_area(record.id.value()) : 0;
  mqd.log2_ring = static_cast<std::uint8_t>(parts.log2_ring);
  mqd.log2_completions = static_cast<std::uint8_t>(parts.log2_completions);
  mqd.vmid = static_cast<std::uint8_t>(process_.vmid);
  mqd.priority = static_cast<std::uint8_t>(wanted.priority);
  mqd.doorbell = parts.doorbell;
  mqd.pasid = process_.pasid.value();
  mqd.quantum_us = static_cast<std::uint32_t>(wanted.quantum.count() / 1'000'000);
  record.percentage = wanted.percentage;
  mqd.percentage = static_cast<std::uint8_t>(wanted.percentage == 0 ? 100 : wanted.percentage);
  mqd.core_mask = *process_.group.within(wanted.core_mask);
}

}  // namespace npu::driver
