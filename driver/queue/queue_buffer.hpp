// SPDX-License-Identifier: Apache-2.0
// Memory of a queue that card and user space share: in host memory, bound to the process' PASID, or
// a piece of a pinned page of device memory, mapped through BAR2.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "driver/memory/memory_manager.hpp"
#include "driver/queue/id_pool.hpp"
#include "npu/driver/address_space.hpp"
#include "npu/driver/queue_types.hpp"

namespace npu::driver {

// Pieces of whole 4 KiB in pages of 2 MiB of one address space. A page stays until the heap ends.
// Locked by its own mutex; takes the memory manager's.
class QueueHeap {
 public:
  struct Piece {
    std::size_t page = 0;
    Bytes offset = 0;  // in the page
    Bytes size = 0;
    std::uint64_t address = 0;
    platform::MmioRegion* region = nullptr;  // of the page
  };

  QueueHeap(CardLink& link, MemoryManager& memory, AddressSpace& space)
      : link_(link), memory_(memory), space_(space), mutex_(link.platform().tasks().make_mutex()) {}
  // Gives all pages back.
  Status close();

  // kOutOfMemory, kOutOfResources. `size`: at most a page.
  Result<Piece> allocate(Bytes size);
  void free(const Piece& piece);

 private:
  static constexpr Bytes kGrain = 4096;
  static constexpr std::size_t kGrains = kPageSize / kGrain;

  struct Page {
    DeviceAddress address;
    std::unique_ptr<platform::MmioRegion> region;
    std::array<bool, kGrains> used{};
  };

  // Nothing: no page has room.
  std::optional<Piece> take(std::size_t grains);
  Result<std::unique_ptr<Page>> make_page();
  static std::size_t find_run(const Page& page, std::size_t grains);

  CardLink& link_;
  MemoryManager& memory_;
  AddressSpace& space_;
  std::unique_ptr<platform::Mutex> mutex_;
  std::vector<std::unique_ptr<Page>> pages_;
};

class QueueBuffer {
 public:
  // All zeros. kOutOfMemory, kOutOfResources, kUnsupported.
  static Result<QueueBuffer> create(CardLink& link, QueueHeap& heap, std::uint32_t pasid,
                                    QueueMemory memory, Bytes size);
  QueueBuffer() = default;
  QueueBuffer(QueueBuffer&& other) noexcept { swap(other); }
  QueueBuffer& operator=(QueueBuffer&& other) noexcept {
    QueueBuffer old;
    old.swap(*this);
    swap(other);
    return *this;
  }
  ~QueueBuffer();

  bool in_host_memory() const { return host_ != nullptr; }
  explicit operator bool() const { return host_ != nullptr || heap_ != nullptr; }
  std::uint64_t address() const { return address_; }  // for the descriptor
  // The bytes, if they are in host memory.
  ConstByteSpan watched(Bytes offset, Bytes size) const {
    return host_ ? ConstByteSpan(host_->cpu().subspan(offset, size)) : ConstByteSpan();
  }

  std::uint64_t load(Bytes offset) const {
    return host_ ? host_->load<std::uint64_t>(offset)
                 : piece_.region->read64(piece_.offset + offset);
  }
  void store(Bytes offset, std::uint64_t value) const {
    if (host_) {
      host_->store(offset, value);
    } else {
      piece_.region->write64(piece_.offset + offset, value);
    }
  }
  // Neighbouring stores of 8 bytes, which write combining joins into one posted write.
  template <class T>
  void write(Bytes offset, const T& value) const {
    std::array<std::uint64_t, sizeof(T) / 8> words;
    static_assert(sizeof words == sizeof value);
    std::memcpy(words.data(), &value, sizeof value);
    for (const auto word : words) {
      store(offset, word);
      offset += sizeof word;
    }
  }

 private:
  void swap(QueueBuffer& other) {
    std::swap(host_, other.host_);
    std::swap(heap_, other.heap_);
    std::swap(piece_, other.piece_);
    std::swap(address_, other.address_);
  }

  std::unique_ptr<platform::DmaMemory> host_;
  QueueHeap* heap_ = nullptr;  // null: not in device memory
  QueueHeap::Piece piece_;
  std::uint64_t address_ = 0;
};

}  // namespace npu::driver
