// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/container.hpp"

#include <fcntl.h>
#include <linux/vfio.h>
#include <sys/ioctl.h>

#include "npu/base/checked.hpp"

namespace npu::driver::vfio {

Result<Container> Container::open(const std::string& vfio_path, std::uint64_t first_bus_address) {
  Container result;
  result.path_ = vfio_path;
  result.first_ = first_bus_address;
  auto file = File::open(vfio_path + "/vfio", O_RDWR);
  if (!file) {
    const bool absent = file.error().code == ErrorCode::kNotFound;
    return fail(absent ? ErrorCode::kUnsupported : file.error().code,
                file.error().context + " (is the vfio-pci module loaded?)");
  }
  result.container_ = std::move(*file);
  if (::ioctl(result.container_.get(), VFIO_GET_API_VERSION) != VFIO_API_VERSION) {
    return fail(ErrorCode::kUnsupported, vfio_path + "/vfio speaks an unknown VFIO version");
  }
  if (::ioctl(result.container_.get(), VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) != 1) {
    return fail(ErrorCode::kUnsupported, "VFIO has no type 1 IOMMU on this machine");
  }
  return result;
}

Result<int> Container::attach(const std::string& group) {
  const auto known = groups_.find(group);
  if (known != groups_.end()) return known->second.get();
  auto file = File::open(path_ + "/" + group, O_RDWR);
  if (!file) return forward_error(file);
  vfio_group_status status{};
  status.argsz = sizeof status;
  if (::ioctl(file->get(), VFIO_GROUP_GET_STATUS, &status) != 0) {
    return system_error("status of VFIO group " + group);
  }
  if (!(status.flags & VFIO_GROUP_FLAGS_VIABLE)) {
    return fail(ErrorCode::kPermissionDenied,
                "VFIO group " + group + " is not viable: bind all its functions to vfio-pci");
  }
  int container = container_.get();
  if (::ioctl(file->get(), VFIO_GROUP_SET_CONTAINER, &container) != 0) {
    return system_error("attach VFIO group " + group);
  }
  if (!has_iommu_) {
    if (::ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) != 0) {
      return system_error("set up the IOMMU for VFIO group " + group);
    }
    has_iommu_ = true;
  }
  return groups_.emplace(group, std::move(*file)).first->second.get();
}

Result<File> Container::open_device(const std::string& group, const std::string& name) {
  const auto attached = attach(group);
  if (!attached) return forward_error(attached);
  const int device = ::ioctl(*attached, VFIO_GROUP_GET_DEVICE_FD, name.c_str());
  if (device < 0) return system_error("open " + name + " of VFIO group " + group);
  return File(device);
}

// The lowest gap between mappings.
std::uint64_t Container::find_gap(Bytes size, Bytes alignment) const {
  std::uint64_t address = align_down(first_ + alignment - 1, alignment);
  for (const auto& [bus, length] : mapped_) {
    if (bus >= address + size) break;
    if (bus + length > address) address = align_down(bus + length + alignment - 1, alignment);
  }
  return address;
}

Result<platform::BusAddress> Container::map(void* data, Bytes size, Bytes alignment,
                                            platform::DmaDirection direction) {
  vfio_iommu_type1_dma_map request{};
  request.argsz = sizeof request;
  if (direction != platform::DmaDirection::kDeviceWrites) request.flags |= VFIO_DMA_MAP_FLAG_READ;
  if (direction != platform::DmaDirection::kDeviceReads) request.flags |= VFIO_DMA_MAP_FLAG_WRITE;
  request.vaddr = reinterpret_cast<std::uintptr_t>(data);
  request.iova = find_gap(size, alignment);
  request.size = size;
  if (::ioctl(container_.get(), VFIO_IOMMU_MAP_DMA, &request) != 0) {
    return system_error("map " + std::to_string(size) + " bytes for DMA");
  }
  mapped_[request.iova] = size;
  return platform::BusAddress{request.iova};
}

void Container::unmap(platform::BusAddress bus) {
  const auto found = mapped_.find(bus.value);
  if (found == mapped_.end()) return;
  vfio_iommu_type1_dma_unmap request{};
  request.argsz = sizeof request;
  request.iova = bus.value;
  request.size = found->second;
  static_cast<void>(::ioctl(container_.get(), VFIO_IOMMU_UNMAP_DMA, &request));
  mapped_.erase(found);
}

}  // namespace npu::driver::vfio
