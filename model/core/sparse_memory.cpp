// SPDX-License-Identifier: Apache-2.0
#include "model/core/sparse_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

// Zeroed pages that cost nothing until written; no huge pages, which would cost 2 MiB each.
void* reserve(Bytes bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  madvise(p, bytes, MADV_NOHUGEPAGE);
  return p;
}

bool all_zero(const std::byte* data, Bytes length) {
  return length == 0 || (data[0] == std::byte{0} && std::memcmp(data, data + 1, length - 1) == 0);
}

}  // namespace

SparseMemory::SparseMemory(Bytes size)
    : base_(static_cast<std::byte*>(reserve(size))),
      size_(size),
      bitmap_(nullptr),
      bitmap_bytes_(ceil_div(ceil_div(size, kPage), 64) * 8),
      summary_(ceil_div(bitmap_bytes_ / 8, 64)) {
  bitmap_ = static_cast<std::uint64_t*>(reserve(bitmap_bytes_));
}

SparseMemory::~SparseMemory() {
  munmap(base_, size_);
  munmap(bitmap_, bitmap_bytes_);
}

void SparseMemory::touch(Bytes page) {
  const Bytes word = page / 64;
  bitmap_[word] |= std::uint64_t{1} << (page % 64);
  summary_[word / 64] |= std::uint64_t{1} << (word % 64);
  ++touched_pages_;
}

void SparseMemory::read_pages(Bytes address, void* data, Bytes length) const {
  auto* out = static_cast<std::byte*>(data);
  while (length > 0) {
    const Bytes piece = std::min(length, kPage - address % kPage);
    read(address, out, piece);
    out += piece;
    address += piece;
    length -= piece;
  }
}

void SparseMemory::write(Bytes address, const void* data, Bytes length) {
  const auto* in = static_cast<const std::byte*>(data);
  while (length > 0) {
    const Bytes piece = std::min(length, kPage - address % kPage);
    const Bytes page = address / kPage;
    const bool touched = is_touched(page);
    if (touched || !all_zero(in, piece)) {
      std::memcpy(base_ + address, in, piece);
      if (!touched) touch(page);
    }
    in += piece;
    address += piece;
    length -= piece;
  }
}

}  // namespace npu::model
