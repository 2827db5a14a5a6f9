// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/queue_buffer.hpp"

#include <fmt/format.h>

#include "driver/device/address_space_impl.hpp"
#include "driver/queue/process_memory.hpp"
#include "driver/support/impl_of.hpp"
#include "npu/abi/layout.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {

// The first of `grains` free ones, or kGrains.
std::size_t QueueHeap::find_run(const Page& page, std::size_t grains) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kGrains; ++i) {
    length = page.used[i] ? 0 : length + 1;
    if (length == grains) return i + 1 - grains;
  }
  return kGrains;
}

Result<QueueHeap::Piece> QueueHeap::allocate(Bytes size) {
  const auto grains = static_cast<std::size_t>(ceil_div(size, kGrain));
  if (grains == 0 || grains > kGrains) {
    return fail(ErrorCode::kOutOfMemory,
                fmt::format("a ring of {} bytes in device memory, at most {} are possible", size,
                            kPageSize));
  }
  for (;;) {
    if (auto piece = take(grains)) return *piece;
    auto page = make_page();
    if (!page) return forward_error(page);
    const MutexHolder holder(*mutex_);
    pages_.push_back(std::move(*page));
  }
}

std::optional<QueueHeap::Piece> QueueHeap::take(std::size_t grains) {
  const MutexHolder holder(*mutex_);
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    auto& page = *pages_[i];
    const auto first = find_run(page, grains);
    if (first == kGrains) continue;
    for (std::size_t grain = first; grain < first + grains; ++grain) page.used[grain] = true;
    const Bytes offset = first * kGrain;
    return Piece{i, offset, grains * kGrain, page.address.value + offset, page.region.get()};
  }
  return std::nullopt;
}

// Pinned: the mapping through BAR2 is of the physical place. Not under the mutex: who gives a ring
// back does not wait for compaction.
Result<std::unique_ptr<QueueHeap::Page>> QueueHeap::make_page() {
  MemoryOptions options;
  options.pinned = true;
  options.counts = false;
  const auto memory = space_.allocate(kPageSize, options);
  if (!memory) return forward_error(memory);
  std::uint64_t physical = 0;
  {
    const MutexHolder holder(memory_.mutex());
    const auto range = impl_of(space_).space->range_of(memory->address.value);
    physical = memory_.physical().find(range->memory)->address + range->offset;
  }
  auto region = link_.platform().map_bar(link_.bdf(), abi::kMemoryBar, physical, kPageSize,
                                         platform::Caching::kWriteCombining);
  if (!region) {
    static_cast<void>(space_.free(memory->address));
    return forward_error(region);
  }
  auto page = std::make_unique<Page>();
  page->address = memory->address;
  page->region = std::move(*region);
  return page;
}

void QueueHeap::free(const Piece& piece) {
  const MutexHolder holder(*mutex_);
  auto& used = pages_[piece.page]->used;
  for (Bytes at = piece.offset; at < piece.offset + piece.size; at += kGrain) {
    used[static_cast<std::size_t>(at / kGrain)] = false;
  }
}

Status QueueHeap::close() {
  const MutexHolder holder(*mutex_);
  Status status;
  for (const auto& page : pages_) {
    page->region.reset();
    if (auto ok = space_.free(page->address); !ok && status) status = ok;
  }
  pages_.clear();
  return status;
}

Result<QueueBuffer> QueueBuffer::create(CardLink& link, QueueHeap& heap, std::uint32_t pasid,
                                        QueueMemory memory, Bytes size) {
  QueueBuffer buffer;
  if (memory == QueueMemory::kHost) {
    auto host = link.platform().allocate_dma(link.bdf(), size, 4096,
                                             platform::DmaDirection::kBidirectional);
    if (!host) return forward_error(host);
    if (auto ok = give_to_process(link.platform(), **host, pasid); !ok) return forward_error(ok);
    buffer.host_ = std::move(*host);
    buffer.address_ = buffer.host_->bus().value;
    return buffer;
  }
  const auto piece = heap.allocate(size);
  if (!piece) return forward_error(piece);
  buffer.heap_ = &heap;
  buffer.piece_ = *piece;
  buffer.address_ = piece->address;
  for (Bytes at = 0; at < size; at += 8) buffer.store(at, 0);
  link.platform().write_barrier();
  return buffer;
}

QueueBuffer::~QueueBuffer() {
  if (heap_ != nullptr) heap_->free(piece_);
}

}  // namespace npu::driver
