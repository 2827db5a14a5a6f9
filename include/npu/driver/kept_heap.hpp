// SPDX-License-Identifier: Apache-2.0
// Blocks of an address space whose pages stay mapped when they are empty, until trim(). A freed
// block may be given out again although the card still uses it: for memory of one stream, where
// later work begins behind earlier work. Pages come in ranges that grow with the heap, because the
// driver clears them. DeviceHeap (heap.hpp) unmaps empty pages at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "npu/base/result.hpp"
#include "npu/driver/address_space.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/types.hpp"

namespace npu::driver {

class HeapRoom;

// Only one task at a time may use it.
class NPU_API KeptHeap {
 public:
  static constexpr Bytes kGrain = 512;                    // of blocks, bytes
  static constexpr Bytes kMostOfRange = Bytes{32} << 20;  // unless a block is larger, bytes

  // `space` must exist while the heap is used. What remains when the heap ends goes with the space.
  explicit KeptHeap(AddressSpace& space);
  ~KeptHeap();
  KeptHeap(const KeptHeap&) = delete;
  KeptHeap& operator=(const KeptHeap&) = delete;

  // A block of `size` bytes, rounded up to kGrain and aligned to it.
  // kInvalidArgument: size 0.
  // Also the errors of AddressSpace::allocate().
  Result<DeviceAddress> allocate(Bytes size);
  // Frees a block of that size.
  void free(DeviceAddress address, Bytes size);
  // Unmaps ranges without a block; the card must not use them. Returns the first error: such a
  // range stays. kTimeout: the card did not drop the pages.
  Status trim();
  Bytes pages() const { return pages_; }  // of the card, bytes

 private:
  Status add_range(Bytes size);

  AddressSpace& space_;
  const std::unique_ptr<HeapRoom> room_;
  std::map<std::uint64_t, Bytes> ranges_;  // by address
  Bytes pages_ = 0;
};

}  // namespace npu::driver
