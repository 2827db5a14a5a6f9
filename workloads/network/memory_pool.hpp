// SPDX-License-Identifier: Apache-2.0
// Memory for tensors: pieces of the driver's heap for one stream, and how much they are.
#pragma once

#include <algorithm>
#include <memory>

#include "npu/driver/kept_heap.hpp"
#include "workloads/network/value.hpp"

namespace npu::network {

class MemoryPool {
 public:
  // `space` outlives it, and it outlives its pieces.
  explicit MemoryPool(driver::AddressSpace& space) : heap_(space) {}
  // What cannot be given back goes with the space.
  ~MemoryPool() { static_cast<void>(trim()); }
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // `size` is not 0. A piece is aligned to 512 bytes. Errors are those of KeptHeap::allocate().
  Result<std::shared_ptr<CardMemory>> allocate(Bytes size) {
    const auto address = heap_.allocate(size);
    if (!address) return forward_error(address);
    const Bytes taken = (size + kGrain - 1) / kGrain * kGrain;
    used_ += taken;
    peak_ = std::max(peak_, used_);
    return std::make_shared<Piece>(*this, *address, taken);
  }
  // Gives pages without a piece back to the driver. Nothing may be running. The first error.
  Status trim() { return heap_.trim(); }

  Bytes used() const { return used_; }  // of pieces
  Bytes peak() const { return peak_; }  // the most that used() has been since begin_peak()
  void begin_peak() { peak_ = used_; }

 private:
  class Piece final : public CardMemory {
   public:
    Piece(MemoryPool& pool, driver::DeviceAddress address, Bytes size)
        : CardMemory(address), pool_(pool), size_(size) {}
    ~Piece() override {
      pool_.heap_.free(address(), size_);
      pool_.used_ -= size_;
    }
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;

   private:
    MemoryPool& pool_;
    const Bytes size_;
  };
  static constexpr Bytes kGrain = driver::KeptHeap::kGrain;

  driver::KeptHeap heap_;
  Bytes used_ = 0, peak_ = 0;
};

}  // namespace npu::network
