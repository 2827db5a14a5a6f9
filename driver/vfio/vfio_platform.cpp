// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/vfio_platform.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include "npu/base/checked.hpp"
#include "npu/driver/vfio.hpp"

namespace npu::driver {
namespace vfio {
namespace {

class MappedMemory : public platform::DmaMemory {
 public:
  MappedMemory(VfioPlatform& owner, ByteSpan cpu, Bytes mapped, platform::BusAddress bus)
      : DmaMemory(cpu, bus), owner_(owner), mapped_(mapped) {}
  ~MappedMemory() override {
    owner_.unmap(bus());
    ::munmap(cpu().data, mapped_);
  }

 private:
  VfioPlatform& owner_;
  Bytes mapped_;
};

}  // namespace

Result<std::shared_ptr<Function>> VfioPlatform::function(platform::Bdf bdf) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = functions_.find(bdf);
  if (known != functions_.end()) return known->second;
  const auto group = sysfs_.iommu_group(bdf);
  if (!group) return forward_error(group);
  auto file = container_.open_device(*group, Sysfs::name(bdf));
  if (!file) return forward_error(file);
  auto opened = Function::create(std::move(*file), Sysfs::name(bdf));
  if (!opened) return forward_error(opened);
  return functions_.emplace(bdf, std::move(*opened)).first->second;
}

std::uint32_t VfioPlatform::read(platform::Bdf bdf, std::uint32_t offset, unsigned width) {
  std::shared_ptr<Function> opened;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = functions_.find(bdf);
    if (known != functions_.end()) opened = known->second;
  }
  return opened ? opened->read_config(offset, width) : sysfs_.read_config(bdf, offset, width);
}

void VfioPlatform::write(platform::Bdf bdf, std::uint32_t offset, unsigned width,
                         std::uint32_t value) {
  const auto opened = function(bdf);
  if (opened) (*opened)->write_config(offset, width, value);
}

Result<std::unique_ptr<platform::MmioRegion>> VfioPlatform::map_bar(platform::Bdf bdf, unsigned bar,
                                                                    Bytes offset, Bytes size,
                                                                    platform::Caching) {
  const auto opened = function(bdf);
  if (!opened) return forward_error(opened);
  if (bar >= 6)
    return fail(ErrorCode::kNotFound, fmt::format("{} has no BAR{}", to_string(bdf), bar));
  return (*opened)->map_bar(bar, offset, size);
}

Result<std::unique_ptr<platform::DmaMemory>> VfioPlatform::allocate_dma(
    platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) {
  if (size == 0) return fail(ErrorCode::kInvalidArgument, "DMA memory of 0 bytes");
  if (!is_power_of_two(alignment) || alignment < 4096) {
    return fail(ErrorCode::kMisaligned,
                fmt::format("alignment {:#x} is no power of two of at least 4 KiB", alignment));
  }
  const auto opened = function(bdf);
  if (!opened) return forward_error(opened);
  const auto rounded = checked_align_up(size, 4096);
  if (!rounded) return fail(ErrorCode::kOutOfMemory, fmt::format("{} bytes of DMA memory", size));
  // Only the bus address needs the alignment. Anonymous memory is zero.
  void* data =
      ::mmap(nullptr, *rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return system_error(fmt::format("{} bytes of DMA memory", size));
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto bus = container_.map(data, *rounded, alignment, direction);
  if (!bus) {
    ::munmap(data, *rounded);
    return forward_error(bus);
  }
  const ByteSpan cpu{static_cast<std::byte*>(data), static_cast<std::size_t>(size)};
  return std::make_unique<MappedMemory>(*this, cpu, *rounded, *bus);
}

void VfioPlatform::unmap(platform::BusAddress bus) {
  const std::lock_guard<std::mutex> lock(mutex_);
  container_.unmap(bus);
}

Result<std::unique_ptr<platform::InterruptVector>> VfioPlatform::open_vector(platform::Bdf bdf,
                                                                             unsigned vector) {
  const auto opened = function(bdf);
  if (!opened) return forward_error(opened);
  return (*opened)->open_vector(clock_, vector);
}

Status VfioPlatform::reset_function(platform::Bdf bdf) {
  const auto opened = function(bdf);
  if (!opened) return forward_error(opened);
  return (*opened)->reset();
}

void VfioPlatform::write_barrier() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#else
  __sync_synchronize();
#endif
}

void VfioPlatform::read_barrier() {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#else
  __sync_synchronize();
#endif
}

}  // namespace vfio

Result<std::unique_ptr<platform::Platform>> open_vfio(const VfioOptions& options) {
  auto container = vfio::Container::open(options.vfio_path, options.first_bus_address);
  if (!container) return forward_error(container);
  return std::make_unique<vfio::VfioPlatform>(std::move(*container),
                                              vfio::Sysfs(options.sysfs_path));
}

}  // namespace npu::driver
