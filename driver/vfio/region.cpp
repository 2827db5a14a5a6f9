// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/region.hpp"

#include <fmt/format.h>
#include <linux/vfio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "driver/vfio/bus_error.hpp"
#include "driver/vfio/function.hpp"
#include "driver/vfio/info_buffer.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver::vfio {
namespace {

// Pages of the device in this process.
class Mapping {
 public:
  Mapping(void* base, Bytes begin, Bytes size)
      : base_(static_cast<std::byte*>(base)), begin_(begin), size_(size), guard_(base, size) {}
  ~Mapping() { ::munmap(base_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  bool covers(Bytes offset, Bytes width) const {
    return offset >= begin_ && range_fits(offset - begin_, width, size_);
  }
  bool is_void() const { return guard_.tripped(); }
  bool is_guarded() const { return guard_.active(); }
  template <class T>
  volatile T* at(Bytes offset) const {
    return reinterpret_cast<volatile T*>(base_ + (offset - begin_));
  }

 private:
  std::byte* base_;
  Bytes begin_;  // in the region that is handed out
  Bytes size_;
  BusErrorGuard guard_;
};

using Mappings = std::vector<std::unique_ptr<Mapping>>;

// A function that is lost reads as all ones and takes no writes, whatever is mapped.
class MappedRegion : public platform::MmioRegion {
 public:
  MappedRegion(std::shared_ptr<Function> owner, std::uint64_t file_offset, Bytes size,
               Mappings mappings)
      : owner_(std::move(owner)),
        file_offset_(file_offset),
        size_(size),
        mappings_(std::move(mappings)) {}

  Bytes size() const override { return size_; }
  std::uint32_t read32(Bytes offset) override { return read<std::uint32_t>(offset); }
  std::uint64_t read64(Bytes offset) override { return read<std::uint64_t>(offset); }
  void write32(Bytes offset, std::uint32_t value) override { write(offset, value); }
  void write64(Bytes offset, std::uint64_t value) override { write(offset, value); }

 private:
  const Mapping* find(Bytes offset, Bytes width) const {
    for (const auto& mapping : mappings_) {
      if (mapping->covers(offset, width)) return mapping.get();
    }
    return nullptr;
  }

  template <class T>
  T read(Bytes offset) const {
    assert(is_aligned(offset, sizeof(T)) && range_fits(offset, sizeof(T), size_));
    T value = static_cast<T>(~T{0});
    if (owner_->is_lost()) return value;
    const Mapping* const mapping = find(offset, sizeof(T));
    if (mapping != nullptr) {
      if (!mapping->is_void()) value = *mapping->at<T>(offset);
      return mapping->is_void() ? static_cast<T>(~T{0}) : value;
    }
    const auto at = static_cast<off_t>(file_offset_ + offset);
    if (::pread(owner_->file(), &value, sizeof value, at) != static_cast<ssize_t>(sizeof value)) {
      value = static_cast<T>(~T{0});
    }
    return value;
  }

  template <class T>
  void write(Bytes offset, T value) const {
    assert(is_aligned(offset, sizeof(T)) && range_fits(offset, sizeof(T), size_));
    if (owner_->is_lost()) return;
    const Mapping* const mapping = find(offset, sizeof(T));
    if (mapping != nullptr) {
      if (!mapping->is_void()) *mapping->at<T>(offset) = value;
      return;
    }
    const auto at = static_cast<off_t>(file_offset_ + offset);
    const auto written = ::pwrite(owner_->file(), &value, sizeof value, at);
    static_cast<void>(written);  // refused: dropped, as by a function that is gone
  }

  std::shared_ptr<Function> owner_;
  std::uint64_t file_offset_;
  Bytes size_;
  Mappings mappings_;
};

// The areas of the capability, in whole pages; without it all of the region.
std::vector<RegionArea> mappable_areas(const vfio_region_info& info, const InfoBuffer& buffer) {
  if (!(info.flags & VFIO_REGION_INFO_FLAG_MMAP)) return {};
  const auto listed =
      (info.flags & VFIO_REGION_INFO_FLAG_CAPS) != 0
          ? buffer.list<vfio_region_sparse_mmap_area>(VFIO_REGION_INFO_CAP_SPARSE_MMAP)
          : std::nullopt;
  if (!listed) return {{0, info.size}};
  const auto page = static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
  std::vector<RegionArea> areas;
  for (const auto& area : *listed) {
    const bool fits = area.size != 0 && range_fits(area.offset, area.size, info.size);
    if (fits && is_aligned(area.offset | area.size, page))
      areas.push_back({area.offset, area.size});
  }
  std::sort(areas.begin(), areas.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return areas;
}

}  // namespace

Result<Region> read_region(Kernel& kernel, int device, unsigned index) {
  const InfoBuffer buffer(
      sizeof(vfio_region_info), offsetof(vfio_region_info, cap_offset),
      [&](void* info) { return kernel.ioctl(device, VFIO_DEVICE_GET_REGION_INFO, info); },
      [index](void* info) { static_cast<vfio_region_info*>(info)->index = index; });
  const auto info = buffer.load<vfio_region_info>(0);
  if (!info) return system_error(fmt::format("VFIO region {}", index));
  return Region{info->offset, info->size, mappable_areas(*info, buffer)};
}

std::unique_ptr<platform::MmioRegion> open_region(Kernel& kernel, std::shared_ptr<Function> owner,
                                                  const Region& region, Bytes offset, Bytes size) {
  Mappings mappings;
  for (const auto& area : region.mappable) {
    const Bytes begin = std::max(area.offset, offset);
    const Bytes end = std::min(area.offset + area.size, offset + size);
    if (begin >= end) continue;
    void* const base = kernel.map(owner->file(), region.file_offset + begin, end - begin);
    if (base == MAP_FAILED) continue;
    auto mapping = std::make_unique<Mapping>(base, begin - offset, end - begin);
    if (mapping->is_guarded()) mappings.push_back(std::move(mapping));
  }
  return std::make_unique<MappedRegion>(std::move(owner), region.file_offset + offset, size,
                                        std::move(mappings));
}

}  // namespace npu::driver::vfio
