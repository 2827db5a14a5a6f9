// SPDX-License-Identifier: Apache-2.0
#include "machine/card_work.hpp"

#include <algorithm>
#include <utility>

#include "npu/abi/dma.hpp"
#include "npu/abi/page_table.hpp"

namespace npu::sim {
namespace {

using model::SpaceId;
using platform::QueueCause;
using races::Piece;
using races::Work;

void add_signal(const abi::QueueEntry& entry, Work& work) {
  const auto opcode = static_cast<abi::QueueOpcode>(entry.opcode);
  if (opcode == abi::QueueOpcode::kEventRecord) {
    const auto signal = entry.get<abi::SignalPayload>();
    work.kind = Work::Kind::kRecord;
    work.signal = signal.slot;
    work.value = signal.value;
  } else if (opcode == abi::QueueOpcode::kEventWait) {
    const auto wait = entry.get<abi::WaitPayload>();
    work.kind = Work::Kind::kWait;
    work.signal = wait.slot;
    work.condition = wait.condition;
    work.value = wait.value;
  }
}

}  // namespace

CardWork::~CardWork() {
  if (model::detail::work_watch == this) model::detail::work_watch = nullptr;
}

void CardWork::attach(model::System& system) {
  system_ = &system;
  model::detail::work_watch = this;
  detector_.set_translation(
      [this](std::uint32_t device, std::uint32_t space, std::uint64_t begin, Bytes size) {
        std::vector<Piece> pieces;
        translate(device, static_cast<SpaceId>(space), begin, begin + size, true, pieces);
        return pieces;
      });
}

Instant CardWork::now() {
  return Instant(Picoseconds(static_cast<std::int64_t>(model::sim_now())));
}

void CardWork::accessed(const Access& access) {
  auto& kernel = kernels_[access.by.cause];
  auto& extents = access.write ? kernel.writes : kernel.reads;
  for (Bytes row = 0; row < access.rows; ++row) {
    const auto begin = access.first + row * access.pitch;
    extents.add(begin, begin + access.row);
  }
}

void CardWork::created(std::uint64_t cause) {
  detector_.created(QueueCause::card(cause), QueueCause::queue(cause), now());
}

void CardWork::ended(const Entry& entry) {
  Work work;
  work.device = QueueCause::card(entry.cause);
  work.queue = QueueCause::queue(entry.cause);
  work.index = QueueCause::index(entry.cause);
  work.space = entry.space;
  add_signal(entry.entry, work);
  add_entry(entry, work);
  add_kernel(entry.cause, work);
  tell(std::move(work));
}

void CardWork::add_entry(const Entry& entry, Work& work) const {
  const auto* const operation = abi::find_dma_operation(entry.entry.opcode);
  if (operation == nullptr) return;
  if (operation->source == abi::DmaSide::kPattern) {
    const auto fill = entry.entry.get<abi::FillPayload>();
    return add_copy(work, *operation, 0, fill.destination, fill.size);
  }
  const auto copy = entry.entry.get<abi::CopyPayload>();
  add_copy(work, *operation, copy.source, copy.destination, copy.size);
}

void CardWork::add_copy(Work& work, const abi::DmaOperation& operation, std::uint64_t source,
                        std::uint64_t destination, Bytes size) const {
  if (operation.target == abi::DmaSide::kCache) return;  // no byte comes or goes
  if (operation.source != abi::DmaSide::kPattern) {
    add(work, operation.source, source, size, false);
  }
  add(work, operation.target, destination, size, true);
}

void CardWork::add(Work& work, abi::DmaSide side, std::uint64_t address, Bytes size,
                   bool write) const {
  if (side == abi::DmaSide::kHost) {
    work.pieces.push_back({true, write, address, 0, size});
  } else {
    const auto space = static_cast<SpaceId>(work.space);
    translate(work.device, space, address, address + size, write, work.pieces);
  }
}

void CardWork::add_kernel(std::uint64_t cause, Work& work) {
  const auto found = kernels_.find(cause);
  if (found == kernels_.end()) return;
  const auto space = static_cast<SpaceId>(work.space);
  for (const auto& [begin, end] : found->second.reads.merge()) {
    translate(work.device, space, begin, end, false, work.pieces);
  }
  for (const auto& [begin, end] : found->second.writes.merge()) {
    translate(work.device, space, begin, end, true, work.pieces);
  }
  kernels_.erase(found);
}

// What is neither in the card's memory nor the host's is left out.
void CardWork::translate(std::uint32_t device, SpaceId space, std::uint64_t begin,
                         std::uint64_t end, bool write, std::vector<Piece>& pieces) const {
  auto& memory = system_->card(device).mmu().memory();
  while (begin < end) {
    const auto page_end = ((begin >> abi::kPageShift) + 1) << abi::kPageShift;
    const auto next = std::min<std::uint64_t>(end, page_end);
    if (const auto local = memory.local(space, begin)) {
      auto* const last = pieces.empty() ? nullptr : &pieces.back();
      const bool goes_on = last != nullptr && !last->host && last->write == write &&
                           last->address + last->size == begin &&
                           last->local + last->size == *local;
      if (goes_on) {
        last->size += next - begin;
      } else {
        pieces.push_back({false, write, begin, *local, next - begin});
      }
    } else if (const auto bus = memory.bus(space, begin)) {
      pieces.push_back({true, write, *bus, 0, next - begin});
    }
    begin = next;
  }
}

}  // namespace npu::sim
