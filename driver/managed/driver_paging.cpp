// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/driver_paging.hpp"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <utility>

#include "driver/managed/card_pages.hpp"
#include "driver/managed/sure_write.hpp"
#include "npu/abi/registers.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {

Result<std::unique_ptr<CardPaging>> DriverPaging::create(CardLink& link, MemoryManager& memory,
                                                         VectorTable& vectors, unsigned vector,
                                                         const ManagedOptions& options,
                                                         std::uint32_t limit) {
  std::unique_ptr<DriverPaging> paging(new DriverPaging(link, memory, limit, options));
  if (auto ok = paging->mover_.open(vectors, vector == 0 ? 0 : vector - 1); !ok)
    return forward_error(ok);
  if (auto ok = paging->make_maps(); !ok) return forward_error(ok);
  auto ring = FaultRing::create(link, vector);
  if (!ring) return forward_error(ring);
  paging->ring_ = std::move(*ring);
  return std::unique_ptr<CardPaging>(std::move(paging));
}

// Room for a line for each page of the card's memory.
Status DriverPaging::make_maps() {
  const Bytes size = link_.card().hbm_size / kPageSize * abi::kResidencyLine;
  std::uint64_t base = 0;
  {
    const MutexHolder holder(memory_.mutex());
    const auto memory = memory_.physical().create(size, true, abi::kVmidPhysical);
    if (!memory) return forward_error(memory);
    maps_ = *memory;
    base = memory_.physical().find(maps_)->address;
  }
  const Bytes whole = *checked_align_up(size, 4096);
  auto region = link_.platform().map_bar(link_.bdf(), abi::kMemoryBar, base, whole,
                                         platform::Caching::kWriteCombining);
  if (!region) return forward_error(region);
  map_region_ = std::move(*region);
  if (auto ok = clear_maps(base, whole); !ok) return ok;
  return write_surely(
      link_, abi::PageResidencyBase::from_raw(base).set<abi::PageResidencyBase::Enable>(1));
}

// A map is empty while its page is not the card's: what is written when it comes may be lost, and
// what is there then must not show parts that are not.
Status DriverPaging::clear_maps(std::uint64_t base, Bytes size) {
  constexpr Bytes kPiece = 65536;
  const auto zeros = link_.platform().allocate_dma(link_.bdf(), kPiece, 4096,
                                                   platform::DmaDirection::kDeviceReads);
  if (!zeros) return forward_error(zeros);
  std::memset((*zeros)->cpu().data, 0, kPiece);
  for (Bytes done = 0; done < size; done += kPiece) {
    const auto piece = std::min(kPiece, size - done);
    if (auto ok = mover_.to_card((*zeros)->bus(), LocalAddress{base + done}, piece); !ok) return ok;
  }
  return mover_.wait();
}

void DriverPaging::stop() {
  if (ring_ && !link_.lost()) link_.write(abi::PageResidencyBase{});
  ring_.reset();
  map_region_.reset();
  if (maps_ == MemoryHandle{}) return;
  const MutexHolder holder(memory_.mutex());
  memory_.physical().release(std::exchange(maps_, {}), abi::kVmidPhysical);
}

void DriverPaging::show_parts(std::uint32_t slot, const PageParts& parts) {
  const Bytes line = slots_[slot].address.value / kPageSize * abi::kResidencyLine;
  for (unsigned word = 0; word < abi::kResidencyLine / 8; ++word) {
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < 64; ++i) bits |= std::uint64_t{parts[word * 64 + i]} << i;
    map_region_->write64(line + word * 8, bits);
  }
  link_.platform().write_barrier();
}

bool DriverPaging::serve_some(const ServedSpaces& spaces) {
  const bool any = serve_waiting(spaces);
  if (look_is_due()) look_surely();
  const Instant begin = slots_.now();
  const auto batch = take_records();
  if (batch.empty()) return any;
  std::bitset<abi::kVmids> concerned;
  for (const auto& record : batch) {
    const auto vmid = record.vmid % abi::kVmids;
    auto* const pages = spaces[vmid];
    if (pages == nullptr) continue;  // its space has been given up meanwhile
    auto& statistics = pages->statistics();
    ++statistics.records;
    if (!concerned[vmid]) ++statistics.batches;
    concerned.set(vmid);
  }
  costs_.lock();
  for (const auto& block : sort(batch, spaces)) {
    costs_.faults(block.records);
    if (!must_wait(block)) serve(block);
  }
  for (unsigned vmid = 0; vmid < abi::kVmids; ++vmid) {
    if (!concerned[vmid] || spaces[vmid] == nullptr) continue;
    auto& statistics = spaces[vmid]->statistics();
    if (batch.size() < statistics.largest_batch) continue;
    statistics.largest_batch = batch.size();
    statistics.largest_batch_begin = begin;
    statistics.largest_batch_end = slots_.now();
  }
  return true;
}

std::vector<abi::PageFaultRecord> DriverPaging::take_records() {
  auto batch = ring_->take(kBatch);
  if (batch.empty()) return batch;
  ring_->give_back();
  const auto faults =
      std::stable_partition(batch.begin(), batch.end(), [](const abi::PageFaultRecord& record) {
        return record.unit != static_cast<std::uint8_t>(abi::PageFaultUnit::kWritesLost);
      });
  if (faults != batch.end()) look_surely();
  batch.erase(faults, batch.end());
  return batch;
}

std::optional<Instant> DriverPaging::due() const {
  auto first = CardPaging::due();
  for (const auto& waiting : waiting_) {
    if (!first || waiting.until < *first) first = waiting.until;
  }
  return first;
}

bool DriverPaging::must_wait(const Block& block) {
  for (auto& waiting : waiting_) {
    if (waiting.block.pages != block.pages || waiting.block.at != block.at) continue;
    waiting.block.touched |= block.touched;
    waiting.block.write = waiting.block.write || block.write;
    return true;
  }
  auto* const page = block.pages->find(block.at);
  if (page == nullptr || lapse_ == Picoseconds{} || block.pages->own(*page).there()) return false;
  const Instant now = slots_.now();
  if (page->thrash.wanted(now, lapse_) != PageThrash::Verdict::kWait) return false;
  ++block.pages->statistics().throttled;
  waiting_.push_back({now + lapse_, block});
  return true;
}

bool DriverPaging::serve_waiting(const ServedSpaces& spaces) {
  const Instant now = slots_.now();
  std::vector<Block> over;
  const auto last = std::remove_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    const bool gone = spaces[waiting.block.vmid] != waiting.block.pages;
    if (!gone && waiting.until <= now) over.push_back(waiting.block);
    return gone || waiting.until <= now;
  });
  waiting_.erase(last, waiting_.end());
  for (const auto& block : over) serve(block);
  return !over.empty();
}

// By pages, in the order in which they were first asked for.
std::vector<DriverPaging::Block> DriverPaging::sort(const std::vector<abi::PageFaultRecord>& batch,
                                                    const ServedSpaces& spaces) {
  std::vector<Block> blocks;
  for (const auto& record : batch) {
    auto* const pages = spaces[record.vmid % abi::kVmids];
    if (pages == nullptr) continue;
    const std::uint64_t at = align_down(record.address, kPageSize);
    auto block = std::find_if(blocks.begin(), blocks.end(), [&](const Block& known) {
      return known.pages == pages && known.at == at;
    });
    if (block == blocks.end()) {
      block = blocks.insert(blocks.end(), Block{pages, record.vmid, at, {}, false, 0});
    }
    ++block->records;
    const auto part = static_cast<unsigned>((record.address - at) >> abi::kPartShift);
    if (block->touched[part]) ++pages->statistics().duplicates;
    block->touched.set(part);
    block->write = block->write || record.write != 0;
  }
  return blocks;
}

void DriverPaging::serve(const Block& block) {
  const bool served = static_cast<bool>(migrate_block_in(block));
  auto& pages = *block.pages;
  pages.trace().begin(ServiceTrace::kReply);
  if (served) {
    ring_->retry(block.vmid, block.at);
  } else {
    ++pages.statistics().fault_errors;
    ring_->refuse(block.vmid, block.at);
  }
  pages.trace().end();
}

Status DriverPaging::migrate_block_in(const Block& block) {
  auto& pages = *block.pages;
  const auto* const page = pages.find(block.at);
  if (page == nullptr) return fail(ErrorCode::kNotFound, "no managed memory");
  std::uint32_t slot = abi::kNoSlot;
  pages.trace().begin(ServiceTrace::kAllocate);
  const auto& mine = pages.own(*page);
  if (!mine.there()) {
    const auto taken = take();
    if (!taken) return forward_error(taken);
    slot = *taken;
  }
  auto ok = pages.migrate_parts_in(block.at, block.touched, block.write, slot, density_);
  if (ok && page->thrash.pinned(slots_.now()) && slot != abi::kNoSlot) {
    ++pages.statistics().pinned;
    slots_.pin(slot, page->thrash.pinned_until());
  }
  // What has failed has left the page where it was.
  if (!ok && slot != abi::kNoSlot && !mine.there()) give(slot);
  return ok;
}

Status DriverPaging::map(std::uint32_t slot, std::uint64_t entry, abi::PageTableEntry value) {
  slots_[slot].pages->space().write_entry(entry, value);
  return {};
}

// Whatever the card has written since the entry was read would be lost, so that every page counts
// as written.
Result<bool> DriverPaging::unmap(std::uint32_t slot, std::uint64_t entry) {
  auto& space = slots_[slot].pages->space();
  const auto ok = invalidator_.drop(space.vmid(), slots_[slot].at, [&] {
    space.write_entry(entry, {});
    show_parts(slot, {});
  });
  if (!ok) return forward_error(ok);
  return true;
}

}  // namespace npu::driver
