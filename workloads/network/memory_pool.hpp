// SPDX-License-Identifier: Apache-2.0
// Memory of a process, for tensors: taken from the driver in large blocks and given out in pieces.
// A piece that is given back may be given out again at once. So all work on tensors is submitted to
// one stream, where later work does not begin before earlier work has ended.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "npu/driver/process.hpp"
#include "workloads/network/value.hpp"

namespace npu::network {

class MemoryPool {
 public:
  // `process` outlives it, and it outlives its pieces.
  explicit MemoryPool(driver::ProcessContext& process) : process_(process) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // `size` is not 0. A piece is aligned to 512 bytes. Errors are those of AddressSpace::allocate().
  Result<std::shared_ptr<CardMemory>> allocate(Bytes size);
  // Gives blocks without a piece back to the driver. Nothing may be running. The first error.
  Status trim();

  Bytes used() const { return used_; }  // of pieces
  Bytes peak() const { return peak_; }  // the most that used() has been since begin_peak()
  void begin_peak() { peak_ = used_; }
  Bytes held() const { return held_; }  // of blocks

 private:
  class Piece;
  struct Block {
    driver::DeviceAddress address;
    Bytes size = 0;
    std::map<Bytes, Bytes> free;  // by offset, no two of them side by side
  };
  struct Place {
    std::size_t block = 0;
    Bytes offset = 0;
  };
  std::optional<Place> smallest_that_fits(Bytes size) const;
  Status add_block(Bytes size);
  void give_back(const Place& place, Bytes size);

  driver::ProcessContext& process_;
  std::vector<Block> blocks_;  // size 0: given back
  Bytes used_ = 0, peak_ = 0, held_ = 0;
};

}  // namespace npu::network
