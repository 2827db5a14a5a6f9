// SPDX-License-Identifier: Apache-2.0
// Backing store of a large memory: costs host memory only for the 4 KiB pages written with
// something other than zeros, and address space only for the pieces of kPiece that have such pages.
// Functional only; time is the models' business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "model/core/direct_memory.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

// The process may have no more memory, or no more addresses (ulimit -v).
class OutOfHostMemory : public std::bad_alloc {
 public:
  explicit OutOfHostMemory(Bytes wanted);
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

class SparseMemory : public DirectMemory {
 public:
  static constexpr Bytes kPiece = Bytes{1} << 30;

  // Throws OutOfHostMemory, as do write() and direct_pointer().
  explicit SparseMemory(Bytes size);
  ~SparseMemory() override;
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;

  Bytes size() const { return size_; }
  // [address, address + length) must lie inside.
  void read(Bytes address, void* data, Bytes length) const {
    if (address % kPage + length > kPage) return read_pages(address, data, length);
    if (is_touched(address / kPage)) {
      std::memcpy(data, at(address), length);
    } else {
      std::memset(data, 0, length);
    }
  }
  void write(Bytes address, const void* data, Bytes length);
  // Zeros; whole pages. Costs what was touched.
  void clear(Bytes address, Bytes length);
  // Null also for what does not lie in one piece.
  const std::byte* direct_pointer(Bytes address, Bytes length, DirectMemoryUser& user) override;
  void give_back(const std::byte* from, Bytes length, DirectMemoryUser& user) override;
  // Bytes of pages that hold data; what the memory costs.
  Bytes touched() const { return touched_pages_ * kPage; }

 private:
  static constexpr Bytes kPage = 4096;
  static constexpr Bytes kDirectPiece = Bytes{2} << 20;
  // In a piece that is there.
  std::byte* at(Bytes address) const { return pieces_[address / kPiece] + address % kPiece; }
  void make_piece(Bytes address);
  void read_pages(Bytes address, void* data, Bytes length) const;
  // Of a large memory mostly little is touched: the summary stays in the cache, all bits do not.
  bool is_touched(Bytes page) const {
    const Bytes word = page / 64;
    if (((summary_[word / 64] >> (word % 64)) & 1) == 0) return false;
    return ((bitmap_[word] >> (page % 64)) & 1) != 0;
  }
  void touch(Bytes page);
  void forget(Bytes page);
  struct DirectGrant {
    Bytes address, length;
    DirectMemoryUser* user;
  };
  bool has_direct_pointer(Bytes address, Bytes length) const;
  void count_grant(const DirectGrant& grant, std::uint32_t change);  // modulo 2^32
  void end_loan(std::size_t index);
  void invalidate_direct(Bytes address, Bytes length);

  Bytes size_;
  std::vector<std::byte*> pieces_;  // null: nothing was written or lent there
  std::uint64_t* bitmap_;           // one bit per page, itself allocated lazily by the system
  Bytes bitmap_bytes_;
  std::vector<std::uint64_t> summary_;  // one bit per word of the bitmap: 0 only if it is 0
  Bytes touched_pages_ = 0;
  std::vector<DirectGrant> grants_;
  std::vector<std::uint32_t> lent_;  // loans that meet each piece of kLentPiece
};

}  // namespace npu::model
