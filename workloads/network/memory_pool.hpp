// SPDX-License-Identifier: Apache-2.0
// Memory for tensors: pieces of a heap of the driver's that keeps its pages, and how much they are.
// All work on them is submitted to one stream.
#pragma once

#include <algorithm>
#include <memory>

#include "npu/driver/heap.hpp"
#include "workloads/network/value.hpp"

namespace npu::network {

class MemoryPool {
 public:
  // `space` outlives it, and it outlives its pieces.
  explicit MemoryPool(driver::AddressSpace& space) : heap_(space, {true}) {}
  // What cannot be given back goes with the space.
  ~MemoryPool() { static_cast<void>(trim()); }
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // `size` is not 0. A piece is aligned to 512 bytes. Errors are those of DeviceHeap::allocate().
  Result<std::shared_ptr<CardMemory>> allocate(Bytes size) {
    // Sizes that no card has stay: the heap refuses them.
    const Bytes wanted = size > ~Bytes{0} - kGrain ? size : (size + kGrain - 1) / kGrain * kGrain;
    const auto block = heap_.allocate(wanted);
    if (!block) return forward_error(block);
    used_ += wanted;
    peak_ = std::max(peak_, used_);
    return std::make_shared<Piece>(*this, *block);
  }
  // Gives pages without a piece back to the driver. Nothing may be running. The first error.
  Status trim() { return heap_.trim(); }

  Bytes used() const { return used_; }  // of pieces
  Bytes peak() const { return peak_; }  // the most that used() has been since begin_peak()
  void begin_peak() { peak_ = used_; }

 private:
  class Piece final : public CardMemory {
   public:
    Piece(MemoryPool& pool, const driver::HeapBlock& block)
        : CardMemory(block.address), pool_(pool), size_(block.size) {}
    ~Piece() override {
      static_cast<void>(pool_.heap_.free(address()));
      pool_.used_ -= size_;
    }
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;

   private:
    MemoryPool& pool_;
    const Bytes size_;
  };
  static constexpr Bytes kGrain = 512;  // as workspaces are aligned

  driver::DeviceHeap heap_;
  Bytes used_ = 0, peak_ = 0;
};

}  // namespace npu::network
