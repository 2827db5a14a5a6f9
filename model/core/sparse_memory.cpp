// SPDX-License-Identifier: Apache-2.0
#include "model/core/sparse_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

// Zeroed pages that cost nothing until written; no huge pages, which would cost 2 MiB each.
void* reserve(Bytes bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw OutOfHostMemory(bytes);
  madvise(p, bytes, MADV_NOHUGEPAGE);
  return p;
}

bool all_zero(const std::byte* data, Bytes length) {
  return length == 0 || (data[0] == std::byte{0} && std::memcmp(data, data + 1, length - 1) == 0);
}

}  // namespace

OutOfHostMemory::OutOfHostMemory(Bytes wanted)
    : text_("this machine gives the process no " + std::to_string(wanted >> 10) +
            " KiB more for the contents of device memory (ulimit -v, ulimit -d, free memory)") {}

SparseMemory::SparseMemory(Bytes size)
    : size_(size),
      pieces_(ceil_div(size, kPiece)),
      bitmap_(nullptr),
      bitmap_bytes_(ceil_div(ceil_div(size, kPage), 64) * 8),
      summary_(ceil_div(bitmap_bytes_ / 8, 64)) {
  bitmap_ = static_cast<std::uint64_t*>(reserve(bitmap_bytes_));
}

SparseMemory::~SparseMemory() {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i] != nullptr) munmap(pieces_[i], std::min(kPiece, size_ - i * kPiece));
  }
  munmap(bitmap_, bitmap_bytes_);
}

void SparseMemory::make_piece(Bytes address) {
  auto& piece = pieces_[address / kPiece];
  if (piece != nullptr) return;
  piece = static_cast<std::byte*>(reserve(std::min(kPiece, size_ - align_down(address, kPiece))));
}

void SparseMemory::touch(Bytes page) {
  const Bytes word = page / 64;
  bitmap_[word] |= std::uint64_t{1} << (page % 64);
  summary_[word / 64] |= std::uint64_t{1} << (word % 64);
  ++touched_pages_;
}

// The summary's bit stays: it says where to look.
void SparseMemory::forget(Bytes page) {
  bitmap_[page / 64] &= ~(std::uint64_t{1} << (page % 64));
  --touched_pages_;
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
  if (!grants_.empty() && has_direct_pointer(address, length)) invalidate_direct(address, length);
  const auto* in = static_cast<const std::byte*>(data);
  while (length > 0) {
    const Bytes piece = std::min(length, kPage - address % kPage);
    const Bytes page = address / kPage;
    const bool touched = is_touched(page);
    if (touched || !all_zero(in, piece)) {
      if (!touched) {
        make_piece(address);
        touch(page);
      }
      std::memcpy(at(address), in, piece);
    }
    in += piece;
    address += piece;
    length -= piece;
  }
}

void SparseMemory::clear(Bytes address, Bytes length) {
  if (!grants_.empty() && has_direct_pointer(address, length)) invalidate_direct(address, length);
  constexpr Bytes kSkip = 64 * 64;  // pages of one word of the summary
  const Bytes end = (address + length) / kPage;
  for (Bytes page = address / kPage; page < end;) {
    if (summary_[page / kSkip] == 0) {
      page = (page / kSkip + 1) * kSkip;
      continue;
    }
    if (is_touched(page)) {
      std::memset(at(page * kPage), 0, kPage);
      forget(page);
    }
    ++page;
  }
}

const std::byte* SparseMemory::direct_pointer(Bytes address, Bytes length, DirectMemoryUser& user) {
  if (length == 0 || !range_fits(address, length, size_)) return nullptr;
  if (address % kPiece + length > kPiece) return nullptr;
  make_piece(address);
  if (lent_.empty()) lent_.resize(size_ / kDirectPiece + 2);
  grants_.push_back({address, length, &user});
  count_grant(grants_.back(), 1);
  return at(address);
}

void SparseMemory::give_back(const std::byte* from, Bytes length, DirectMemoryUser& user) {
  for (std::size_t i = 0; i < grants_.size(); ++i) {
    const DirectGrant& grant = grants_[i];
    if (grant.length != length || grant.user != &user || at(grant.address) != from) continue;
    return end_loan(i);
  }
}

bool SparseMemory::has_direct_pointer(Bytes address, Bytes length) const {
  for (Bytes piece = address / kDirectPiece; piece * kDirectPiece < address + length; ++piece) {
    if (lent_[piece] != 0) return true;
  }
  return false;
}

void SparseMemory::count_grant(const DirectGrant& grant, std::uint32_t change) {
  const Bytes last = (grant.address + grant.length - 1) / kDirectPiece;
  for (Bytes piece = grant.address / kDirectPiece; piece <= last; ++piece) {
    lent_[piece] += change;
  }
}

void SparseMemory::end_loan(std::size_t index) {
  count_grant(grants_[index], UINT32_MAX);  // less one
  grants_[index] = grants_.back();
  grants_.pop_back();
}

void SparseMemory::invalidate_direct(Bytes address, Bytes length) {
  for (std::size_t i = 0; i < grants_.size();) {
    const DirectGrant grant = grants_[i];
    if (grant.address >= address + length || address >= grant.address + grant.length) {
      ++i;
      continue;
    }
    end_loan(i);
    grant.user->invalidate_direct(at(grant.address), grant.length);
  }
}

}  // namespace npu::model
