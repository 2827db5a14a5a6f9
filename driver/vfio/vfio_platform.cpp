// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/vfio_platform.hpp"

#include <fmt/format.h>

#include "driver/vfio/dma_memory.hpp"
#include "npu/base/checked.hpp"
#include "npu/driver/vfio.hpp"

namespace npu::driver {
namespace vfio {

// --- Functions -----------------------------------------------------------------------------

std::shared_ptr<Function> VfioPlatform::known(platform::Bdf bdf) {
  const auto found = functions_.find(bdf);
  if (found == functions_.end()) return nullptr;
  if (!found->second->is_lost()) return found->second;
  lost_[bdf] = found->second;
  functions_.erase(found);
  return nullptr;
}

std::shared_ptr<Function> VfioPlatform::lost(platform::Bdf bdf) {
  const auto found = lost_.find(bdf);
  if (found == lost_.end()) return nullptr;
  auto held = found->second.lock();
  if (!held) lost_.erase(found);
  return held;
}

// The kernel gets them when the last region and vector of them are given back.
void VfioPlatform::forget_lost() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = functions_.begin(); it != functions_.end();) {
    const auto bdf = it++->first;  // known() may erase it
    static_cast<void>(known(bdf));
  }
}

Result<std::shared_ptr<Function>> VfioPlatform::function(platform::Bdf bdf) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (auto open_already = known(bdf)) return open_already;
  if (const auto held = lost(bdf)) {
    return fail(ErrorCode::kDeviceLost,
                fmt::format("{}: {}; it can be opened again when all of it is given back",
                            held->name(), held->reason_lost()));
  }
  auto opened = open(bdf);
  if (opened) {
    functions_.emplace(bdf, *opened);
    shadow_.forget(bdf);
    monitor_.watch(*opened);
  }
  return opened;
}

Result<std::shared_ptr<Function>> VfioPlatform::open(platform::Bdf bdf) {
  const auto group = sysfs_.iommu_group(bdf);
  if (!group) return forward_error(group);
  const auto name = Sysfs::name(bdf);
  auto shared = container(bdf, *group);
  if (!shared) return forward_error(shared);
  auto file = (*shared)->open_device(name);
  if (!file) return forward_error(file);
  return Function::create(kernel_, std::move(*shared), std::move(*file), name);
}

Result<std::shared_ptr<Container>> VfioPlatform::container(platform::Bdf bdf,
                                                           const std::string& group) {
  if (auto known = containers_[group].lock()) return known;
  auto opened = Container::open(kernel_, options_.vfio_path, group, options_.first_bus_address);
  if (opened) {
    containers_[group] = *opened;
    return opened;
  }
  auto& error = opened.error();
  const auto missing = sysfs_.what_is_missing(bdf, group);
  if (!missing.empty()) {
    return fail(ErrorCode::kPermissionDenied, missing + " [" + error.context + "]");
  }
  if (error.code == ErrorCode::kBusy) {
    error.context += ": another process uses " + Sysfs::name(bdf) + ", or one of its IOMMU group";
  }
  if (error.code == ErrorCode::kPermissionDenied) {
    error.context += fmt::format(" (as another user? {}/{} has to be readable and writable)",
                                 options_.vfio_path, group);
  }
  return opened;
}

// --- Configuration space -------------------------------------------------------------------

std::uint32_t VfioPlatform::read(platform::Bdf bdf, std::uint32_t offset, unsigned width) {
  std::shared_ptr<Function> opened;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    opened = known(bdf);
    if (!opened && lost(bdf)) return all_ones(width);
    const auto value = opened ? std::nullopt : sysfs_.read_config(bdf, offset, width);
    if (value) {
      return BarShadow::is_bar(offset, width) ? shadow_.read(sysfs_, bdf, offset, *value) : *value;
    }
  }
  if (!opened && sysfs_.exists(bdf)) {
    // Capabilities are not for everybody, but for whoever may open the function.
    if (const auto now = function(bdf)) opened = *now;
  }
  return opened ? opened->read_config(offset, width) : all_ones(width);
}

void VfioPlatform::write(platform::Bdf bdf, std::uint32_t offset, unsigned width,
                         std::uint32_t value) {
  if (BarShadow::is_bar(offset, width)) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!known(bdf) && !lost(bdf)) return shadow_.write(bdf, offset, value);
  }
  const auto opened = function(bdf);
  if (opened) (*opened)->write_config(offset, width, value);
}

// --- The rest ------------------------------------------------------------------------------

Result<std::unique_ptr<platform::MmioRegion>> VfioPlatform::map_bar(platform::Bdf bdf, unsigned bar,
                                                                    Bytes offset, Bytes size,
                                                                    platform::Caching) {
  const auto opened = function(bdf);
  if (!opened) return forward_error(opened);
  if (bar >= 6) {
    return fail(ErrorCode::kNotFound, fmt::format("{} has no BAR{}", to_string(bdf), bar));
  }
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
  return allocate_dma_memory((*opened)->shared_container(), size, alignment, direction);
}

Result<std::unique_ptr<platform::DmaMemory>> VfioPlatform::import_dma(
    platform::Bdf bdf, ByteSpan memory, platform::DmaDirection direction, platform::HostPages) {
  if (memory.size == 0) return fail(ErrorCode::kInvalidArgument, "DMA memory of 0 bytes");
  const auto opened = function(bdf);
  if (!opened) return forward_error(opened);
  return import_dma_memory((*opened)->shared_container(), memory, direction);
}

Result<platform::BusAddress> VfioPlatform::share_dma(platform::DmaMemory& memory,
                                                     platform::Bdf bdf) {
  const auto opened = function(bdf);
  if (!opened) return forward_error(opened);
  return share_dma_memory(memory, (*opened)->shared_container());
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
  return (*opened)->reset(clock_);
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
  const auto usable = vfio::Container::check(vfio::Kernel::real(), options.vfio_path);
  if (!usable) return forward_error(usable);
  return std::make_unique<vfio::VfioPlatform>(options);
}

}  // namespace npu::driver
