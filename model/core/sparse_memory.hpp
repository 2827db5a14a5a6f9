// SPDX-License-Identifier: Apache-2.0
// Backing store of a large memory: costs host memory only for the 4 KiB pages written with
// something other than zeros. Functional only; time is the models' business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::model {

class SparseMemory {
 public:
  explicit SparseMemory(Bytes size);
  ~SparseMemory();
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;

  Bytes size() const { return size_; }
  // [address, address + length) must lie inside.
  void read(Bytes address, void* data, Bytes length) const {
    if (address % kPage + length > kPage) return read_pages(address, data, length);
    if (is_touched(address / kPage)) {
      std::memcpy(data, base_ + address, length);
    } else {
      std::memset(data, 0, length);
    }
  }
  void write(Bytes address, const void* data, Bytes length);
  // Bytes of pages that hold data; what the memory costs.
  Bytes touched() const { return touched_pages_ * kPage; }
  // The bytes themselves, for DMI: the caller must not write through it.
  const std::byte* data() const { return base_; }

 private:
  static constexpr Bytes kPage = 4096;
  void read_pages(Bytes address, void* data, Bytes length) const;
  bool is_touched(Bytes page) const { return (bitmap_[page / 64] >> (page % 64)) & 1; }

  std::byte* base_;
  Bytes size_;
  std::uint64_t* bitmap_;  // one bit per page, itself allocated lazily by the system
  Bytes bitmap_bytes_;
  Bytes touched_pages_ = 0;
};

}  // namespace npu::model
