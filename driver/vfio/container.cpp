// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/container.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/vfio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "driver/vfio/info_buffer.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver::vfio {
namespace {

// Of kernels that do not say which addresses are valid: what every IOMMU can do.
constexpr BusRange kOldKernels{0, (1ULL << 39) - 1};

void* as_argument(unsigned long value) {
  return reinterpret_cast<void*>(value);  // NOLINT(performance-no-int-to-ptr): ioctl's own way
}

std::vector<BusRange> valid_ranges(const InfoBuffer& info) {
  std::vector<BusRange> ranges;
  const auto listed = info.list<vfio_iova_range>(VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE);
  if (listed) {
    for (const auto& range : *listed) {
      if (range.start <= range.end) ranges.push_back({range.start, range.end});
    }
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  if (ranges.empty()) ranges.push_back(kOldKernels);
  return ranges;
}

}  // namespace

Result<FileDescriptor> Container::open_node(Kernel& kernel, const std::string& vfio_path) {
  auto file = open_file(kernel, vfio_path + "/vfio", O_RDWR);
  if (!file) {
    const bool absent = file.error().code == ErrorCode::kNotFound;
    return fail(absent ? ErrorCode::kUnsupported : file.error().code,
                file.error().context + " (is the module vfio-pci loaded?)");
  }
  if (kernel.ioctl(file->get(), VFIO_GET_API_VERSION, nullptr) != VFIO_API_VERSION) {
    return fail(ErrorCode::kUnsupported, vfio_path + "/vfio speaks an unknown VFIO version");
  }
  const auto type1 = as_argument(VFIO_TYPE1v2_IOMMU);
  if (kernel.ioctl(file->get(), VFIO_CHECK_EXTENSION, type1) != 1) {
    return fail(
        ErrorCode::kUnsupported,
        "VFIO has no type 1 IOMMU on this machine (is the module vfio_iommu_type1 loaded?)");
  }
  return file;
}

Status Container::check(Kernel& kernel, const std::string& vfio_path) {
  const auto file = open_node(kernel, vfio_path);
  return file ? Status() : Status(forward_error(file));
}

Result<std::shared_ptr<Container>> Container::open(Kernel& kernel, const std::string& vfio_path,
                                                   const std::string& group,
                                                   std::uint64_t first_bus_address) {
  auto file = open_node(kernel, vfio_path);
  if (!file) return forward_error(file);
  std::shared_ptr<Container> result(new Container(kernel));
  result->container_ = std::move(*file);
  result->name_ = group;
  if (auto ok = result->add_group(vfio_path, group); !ok) return forward_error(ok);
  result->read_limits(first_bus_address);
  return result;
}

Status Container::add_group(const std::string& vfio_path, const std::string& group) {
  auto file = open_file(kernel_, vfio_path + "/" + group, O_RDWR);
  if (!file) return forward_error(file);
  vfio_group_status status{};
  status.argsz = sizeof status;
  if (kernel_.ioctl(file->get(), VFIO_GROUP_GET_STATUS, &status) != 0) {
    return system_error("status of VFIO group " + group);
  }
  if (!(status.flags & VFIO_GROUP_FLAGS_VIABLE)) {
    return fail(ErrorCode::kPermissionDenied, "VFIO group " + group + " is not viable");
  }
  int container = container_.get();
  if (kernel_.ioctl(file->get(), VFIO_GROUP_SET_CONTAINER, &container) != 0) {
    return system_error("put VFIO group " + group + " into a container");
  }
  if (kernel_.ioctl(container, VFIO_SET_IOMMU, as_argument(VFIO_TYPE1v2_IOMMU)) != 0) {
    const bool refused = errno == EPERM;
    auto error = system_error("set up the IOMMU for VFIO group " + group);
    if (refused) {
      error.value().context +=
          " (no interrupt remapping? The parameter allow_unsafe_interrupts of vfio_iommu_type1 "
          "does without)";
    }
    return error;
  }
  group_ = std::move(*file);
  return {};
}

void Container::read_limits(std::uint64_t first_bus_address) {
  page_size_ = static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
  const InfoBuffer info(sizeof(vfio_iommu_type1_info), offsetof(vfio_iommu_type1_info, cap_offset),
                        [this](void* buffer) {
                          return kernel_.ioctl(container_.get(), VFIO_IOMMU_GET_INFO, buffer);
                        });
  const auto fixed = info.load<vfio_iommu_type1_info>(0);
  if (fixed && (fixed->flags & VFIO_IOMMU_INFO_PGSIZES) && fixed->iova_pgsizes != 0) {
    page_size_ = std::max<Bytes>(page_size_, fixed->iova_pgsizes & (~fixed->iova_pgsizes + 1));
  }
  const bool capable = fixed && (fixed->flags & VFIO_IOMMU_INFO_CAPS) != 0;
  space_.emplace(capable ? valid_ranges(info) : std::vector<BusRange>{kOldKernels},
                 first_bus_address);
}

Result<FileDescriptor> Container::open_device(const std::string& name) {
  std::string argument = name;
  const int device = kernel_.ioctl(group_.get(), VFIO_GROUP_GET_DEVICE_FD, argument.data());
  if (device < 0) return system_error("open " + name + " of VFIO group " + name_);
  return FileDescriptor(device);
}

// linux/vfio.h, VFIO_IOMMU_MAP_DMA: memory counts against RLIMIT_MEMLOCK, mappings against the
// module parameter dma_entry_limit.
tl::unexpected<Error> Container::map_error(Bytes size) const {
  const int number = errno;
  auto error = system_error(fmt::format("map {} bytes for DMA", size));
  rlimit limit{};
  if (number == ENOMEM && ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
    error.value().context +=
        limit.rlim_cur == RLIM_INFINITY
            ? " (memory cannot be pinned)"
            : fmt::format(" (at most {} bytes may be locked: ulimit -l)", limit.rlim_cur);
  }
  if (number == ENOSPC) {
    error.value().code = ErrorCode::kOutOfResources;
    error.value().context += " (too many mappings: dma_entry_limit of vfio_iommu_type1)";
  }
  return error;
}

Result<platform::BusAddress> Container::map(void* data, Bytes size, Bytes alignment,
                                            platform::DmaDirection direction) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Bytes unit = std::max(alignment, page_size_);
  const auto address = space_->take(align_down(size + unit - 1, unit), unit);
  if (!address) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("no bus addresses left for {} bytes of DMA memory", size));
  }
  vfio_iommu_type1_dma_map request{};
  request.argsz = sizeof request;
  if (direction != platform::DmaDirection::kDeviceWrites) request.flags |= VFIO_DMA_MAP_FLAG_READ;
  if (direction != platform::DmaDirection::kDeviceReads) request.flags |= VFIO_DMA_MAP_FLAG_WRITE;
  request.vaddr = reinterpret_cast<std::uintptr_t>(data);
  request.iova = *address;
  request.size = size;
  if (kernel_.ioctl(container_.get(), VFIO_IOMMU_MAP_DMA, &request) != 0) {
    auto error = map_error(size);
    space_->give_back(*address);
    return error;
  }
  return platform::BusAddress{*address};
}

// An address that could not be unmapped is not used again.
void Container::unmap(platform::BusAddress bus, Bytes size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  vfio_iommu_type1_dma_unmap request{};
  request.argsz = sizeof request;
  request.iova = bus.value;
  request.size = size;
  const int done = kernel_.ioctl(container_.get(), VFIO_IOMMU_UNMAP_DMA, &request);
  if (done == 0 && request.size == size) space_->give_back(bus.value);
}

}  // namespace npu::driver::vfio
