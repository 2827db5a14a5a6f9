// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/dma_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

#include "driver/vfio/file.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver::vfio {
namespace {

constexpr Bytes kHugePage = 2_MiB;

// Gives its pages back, unless they are somebody else's.
class Pages {
 public:
  Pages(void* data, Bytes size, bool own = true)
      : data_(static_cast<std::byte*>(data)), size_(size), own_(own) {}
  ~Pages() {
    if (own_ && data_ != nullptr) ::munmap(data_, size_);
  }
  Pages(Pages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_), own_(other.own_) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  Pages& operator=(Pages&&) = delete;

  std::byte* data() const { return data_; }
  Bytes size() const { return size_; }

 private:
  std::byte* data_;
  Bytes size_;
  bool own_;
};

class MappedMemory : public platform::DmaMemory {
 public:
  struct Place {
    std::shared_ptr<Container> container;
    platform::BusAddress bus;
  };

  MappedMemory(std::shared_ptr<Container> container, Pages pages, Bytes size, Bytes alignment,
               platform::DmaDirection direction, platform::BusAddress bus)
      : DmaMemory({pages.data(), static_cast<std::size_t>(size)}, bus),
        alignment_(alignment),
        direction_(direction),
        pages_(std::move(pages)) {
    places_.push_back({std::move(container), bus});
  }
  ~MappedMemory() override {
    for (const auto& place : places_) place.container->unmap(place.bus, pages_.size());
  }

  Result<platform::BusAddress> share(std::shared_ptr<Container> container) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& place : places_) {
      if (place.container == container) return place.bus;
    }
    const auto there = container->map(pages_.data(), pages_.size(), alignment_, direction_);
    if (there) places_.push_back({std::move(container), *there});
    return there;
  }

 private:
  const Bytes alignment_;
  const platform::DmaDirection direction_;
  Pages pages_;
  std::mutex mutex_;           // places_
  std::vector<Place> places_;  // the first is where it was made for
};

// Pages of the process' own, by a store to each. Pinned for the device to read only, a page that
// was never written is, before Linux 6.2, the one page of zeroes that all processes share: the
// first store would then go to a new page, and the device would read zeroes for ever.
bool populate(std::byte* data, Bytes size, Bytes page) {
#ifdef MADV_POPULATE_WRITE
  if (::madvise(data, size, MADV_POPULATE_WRITE) == 0) return true;
  if (errno != EINVAL) return false;  // no memory; EINVAL: before Linux 5.14
#endif
  for (Bytes at = 0; at < size; at += page) {
    *const_cast<volatile std::byte*>(data + at) = std::byte{0};
  }
  return true;
}

// Zeroed. `alignment`: a power of two. A child of fork() does not get them: the parent's next store
// would go to a copy that the device does not know.
Result<Pages> make_pages(Bytes size, Bytes alignment, Bytes page) {
  const auto failed = [&] { return system_error(fmt::format("{} bytes of DMA memory", size)); };
  const auto room = checked_add(size, alignment);
  if (!room) return fail(ErrorCode::kOutOfMemory, fmt::format("{} bytes of DMA memory", size));
  void* const all =
      ::mmap(nullptr, *room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return failed();
  const auto begin = reinterpret_cast<std::uintptr_t>(all);
  const Bytes before = align_down(begin + alignment - 1, alignment) - begin;
  auto* const data = static_cast<std::byte*>(all) + before;
  if (before > 0) ::munmap(all, before);
  ::munmap(data + size, *room - before - size);
  Pages pages(data, size);
  if (::madvise(data, size, MADV_DONTFORK) != 0) return failed();
  // A wish: fewer, larger entries in the IOMMU.
  if (alignment >= kHugePage) static_cast<void>(::madvise(data, size, MADV_HUGEPAGE));
  if (!populate(data, size, page)) return failed();
  return pages;
}

}  // namespace

Result<std::unique_ptr<platform::DmaMemory>> allocate_dma_memory(
    std::shared_ptr<Container> container, Bytes size, Bytes alignment,
    platform::DmaDirection direction) {
  const Bytes page = container->page_size();
  const auto rounded = checked_align_up(size, page);
  if (!rounded) return fail(ErrorCode::kOutOfMemory, fmt::format("{} bytes of DMA memory", size));
  // Only the bus address needs the alignment; both have it where large pages are worth it.
  const Bytes large = *rounded >= kHugePage ? kHugePage : page;
  auto pages = make_pages(*rounded, large, static_cast<Bytes>(::sysconf(_SC_PAGESIZE)));
  if (!pages) return forward_error(pages);
  const Bytes wanted = std::max(alignment, large);
  const auto bus = container->map(pages->data(), *rounded, wanted, direction);
  if (!bus) return forward_error(bus);
  return std::make_unique<MappedMemory>(std::move(container), std::move(*pages), size, wanted,
                                        direction, *bus);
}

Result<std::unique_ptr<platform::DmaMemory>> import_dma_memory(std::shared_ptr<Container> container,
                                                               ByteSpan memory,
                                                               platform::DmaDirection direction) {
  const Bytes page = container->page_size();
  if (!is_aligned(reinterpret_cast<std::uintptr_t>(memory.data) | memory.size, page)) {
    return fail(
        ErrorCode::kMisaligned,
        fmt::format("{:#x} bytes of host memory are not whole pages of {}", memory.size, page));
  }
  constexpr Bytes kAlignment = platform::kImportAlignment;
  const auto bus = container->map(memory.data, memory.size, kAlignment, direction);
  if (!bus) return forward_error(bus);
  return std::make_unique<MappedMemory>(std::move(container),
                                        Pages(memory.data, memory.size, false), memory.size,
                                        kAlignment, direction, *bus);
}

Result<platform::BusAddress> share_dma_memory(platform::DmaMemory& memory,
                                              std::shared_ptr<Container> container) {
  return static_cast<MappedMemory&>(memory).share(std::move(container));
}

}  // namespace npu::driver::vfio
