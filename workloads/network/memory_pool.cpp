// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/memory_pool.hpp"

#include <algorithm>

namespace npu::network {
namespace {

// The driver clears new memory, which takes time: blocks grow with what is there.
constexpr Bytes kMostBlock = 32_MiB;
constexpr Bytes kGrain = 512;  // as workspaces are aligned

// Sizes that no card has stay: the driver refuses them.
constexpr Bytes rounded(Bytes size, Bytes to) {
  return size > ~Bytes{0} - to ? size : (size + to - 1) / to * to;
}

}  // namespace

class MemoryPool::Piece final : public CardMemory {
 public:
  Piece(MemoryPool& pool, const Place& place, Bytes size)
      : CardMemory(pool.blocks_[place.block].address + place.offset),
        pool_(pool),
        place_(place),
        size_(size) {}
  ~Piece() override { pool_.give_back(place_, size_); }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

 private:
  MemoryPool& pool_;
  const Place place_;
  const Bytes size_;
};

// What cannot be given back goes with the process.
MemoryPool::~MemoryPool() {
  static_cast<void>(trim());
}

std::optional<MemoryPool::Place> MemoryPool::smallest_that_fits(Bytes size) const {
  std::optional<Place> best;
  Bytes best_size = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    for (const auto& [offset, free] : blocks_[i].free) {
      if (free < size || (best && free >= best_size)) continue;
      best = Place{i, offset};
      best_size = free;
    }
  }
  return best;
}

// A small block, where there is no room for a large one.
Status MemoryPool::add_block(Bytes size) {
  Bytes wanted = rounded(std::max(size, std::min(held_, kMostBlock)), driver::kPageSize);
  auto memory = process_.space().allocate(wanted);
  const Bytes least = rounded(size, driver::kPageSize);
  if (!memory && memory.error().code == ErrorCode::kOutOfMemory && least < wanted) {
    wanted = least;
    memory = process_.space().allocate(wanted);
  }
  if (!memory) return forward_error(memory);
  held_ += wanted;
  const auto free_place = std::find_if(blocks_.begin(), blocks_.end(),
                                       [](const Block& each) { return each.size == 0; });
  auto& block = free_place == blocks_.end() ? blocks_.emplace_back() : *free_place;
  block.address = memory->address;
  block.size = wanted;
  block.free = {{0, wanted}};
  return {};
}

Result<std::shared_ptr<CardMemory>> MemoryPool::allocate(Bytes size) {
  const Bytes wanted = rounded(size, kGrain);
  auto place = smallest_that_fits(wanted);
  if (!place) {
    if (auto ok = add_block(wanted); !ok) return forward_error(ok);
    place = smallest_that_fits(wanted);
  }
  auto& free = blocks_[place->block].free;
  const auto range = free.extract(place->offset);
  if (range.mapped() > wanted) free[place->offset + wanted] = range.mapped() - wanted;
  used_ += wanted;
  peak_ = std::max(peak_, used_);
  return std::make_shared<Piece>(*this, *place, wanted);
}

void MemoryPool::give_back(const Place& place, Bytes size) {
  auto& free = blocks_[place.block].free;
  used_ -= size;
  auto begin = place.offset;
  auto end = begin + size;
  const auto behind = free.lower_bound(begin);
  if (behind != free.begin()) {
    const auto before = std::prev(behind);
    if (before->first + before->second == begin) begin = before->first;
  }
  if (behind != free.end() && behind->first == end) {
    end += behind->second;
    free.erase(behind);
  }
  free[begin] = end - begin;
}

Status MemoryPool::trim() {
  Status first;
  for (auto& block : blocks_) {
    const bool is_empty =
        block.size != 0 && block.free.size() == 1 && block.free.begin()->second == block.size;
    if (!is_empty) continue;
    const auto freed = process_.space().free(block.address);
    if (!freed && first) first = freed;
    held_ -= block.size;
    block = {};
  }
  return first;
}

}  // namespace npu::network
