// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/vfio/fake_kernel.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace npu::test {
namespace {

int fails_with(int number) {
  errno = number;
  return -1;
}

template <class T>
T load_from(const void* argument, std::size_t at = 0) {
  T value;
  std::memcpy(&value, static_cast<const char*>(argument) + at, sizeof value);
  return value;
}

template <class T>
void store_to(void* argument, const T& value, std::size_t at = 0) {
  std::memcpy(static_cast<char*>(argument) + at, &value, sizeof value);
}

// Header, count, entries behind `fixed` bytes, if there is room; the size it needs.
template <class T>
std::uint32_t store_list(void* argument, std::size_t fixed, std::size_t room, std::uint16_t id,
                         const std::vector<T>& entries) {
  const std::size_t needed = fixed + 16 + entries.size() * sizeof(T);
  if (room >= needed) {
    store_to(argument, vfio_info_cap_header{id, 1, 0}, fixed);
    store_to(argument, static_cast<std::uint32_t>(entries.size()), fixed + 8);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      store_to(argument, entries[i], fixed + 16 + i * sizeof(T));
    }
  }
  return static_cast<std::uint32_t>(needed);
}

}  // namespace

std::uint64_t FakeVfioFunction::load(unsigned region, Bytes offset) const {
  std::uint64_t value = 0;
  const auto at = static_cast<off_t>(region * kRegionStride + offset);
  EXPECT_EQ(::pread(file, &value, sizeof value, at), static_cast<ssize_t>(sizeof value));
  return value;
}

void FakeVfioFunction::store(unsigned region, Bytes offset, std::uint64_t value,
                             unsigned width) const {
  const auto at = static_cast<off_t>(region * kRegionStride + offset);
  EXPECT_EQ(::pwrite(file, &value, width, at), static_cast<ssize_t>(width));
}

void FakeVfioFunction::signal(int event) const {
  const std::uint64_t one = 1;
  EXPECT_EQ(::write(event, &one, sizeof one), static_cast<ssize_t>(sizeof one));
}

FakeKernel::FakeKernel() {
  folder.write("devices/pci0000:00/x", "");
}

FakeVfioFunction& FakeKernel::add(platform::Bdf bdf, const std::string& group) {
  const auto name = driver::vfio::Sysfs::name(bdf);
  auto& function = functions[name];
  function.file = ::memfd_create(name.c_str(), MFD_CLOEXEC);
  const auto end = static_cast<off_t>((VFIO_PCI_CONFIG_REGION_INDEX + 1) * kRegionStride);
  EXPECT_EQ(::ftruncate(function.file, end), 0);
  function.store(VFIO_PCI_CONFIG_REGION_INDEX, 0, 0xD11019E5, 4);
  const std::string device = "bus/pci/devices/" + name;
  folder.link(device + "/iommu_group", "../../../kernel/iommu_groups/" + group);
  folder.link(device + "/driver", "../../../bus/pci/drivers/vfio-pci");
  folder.write("kernel/iommu_groups/" + group + "/devices/" + name, "");
  names_[group] = name;
  return function;
}

driver::VfioOptions FakeKernel::options() const {
  driver::VfioOptions options;
  options.vfio_path = "/fake";
  options.sysfs_path = folder.path();
  return options;
}

int FakeKernel::open(const std::string& path, int flags) {
  const std::string prefix = "/fake/";
  if (path.rfind(prefix, 0) != 0) return Kernel::open(path, flags);
  const auto node = path.substr(prefix.size());
  const bool group = names_.count(node) != 0;
  if (group && open_group_errno != 0) return fails_with(open_group_errno);
  if (!group && node != "vfio") return fails_with(ENOENT);
  const int file = Kernel::open("/dev/null", O_RDWR);
  containers_.erase(file);
  groups_.erase(file);
  devices_.erase(file);
  (group ? groups_ : containers_)[file] = node;
  return file;
}

void* FakeKernel::map(int file, std::uint64_t offset, std::size_t size) {
  if (!maps) {
    errno = EINVAL;
    return MAP_FAILED;
  }
  return Kernel::map(file, offset, size);
}

int FakeKernel::ioctl(int file, unsigned long request, void* argument) {
  if (devices_.count(file) != 0) return device_ioctl(functions[devices_[file]], request, argument);
  if (groups_.count(file) != 0) return group_ioctl(groups_[file], request, argument);
  if (containers_.count(file) != 0) return container_ioctl(file, request, argument);
  return fails_with(ENOTTY);
}

int FakeKernel::group_ioctl(const std::string& group, unsigned long request, void* argument) {
  if (request == VFIO_GROUP_GET_STATUS) {
    auto status = load_from<vfio_group_status>(argument);
    status.flags = viable ? VFIO_GROUP_FLAGS_VIABLE : 0U;
    store_to(argument, status);
    return 0;
  }
  if (request == VFIO_GROUP_SET_CONTAINER) return 0;
  if (request != VFIO_GROUP_GET_DEVICE_FD) return fails_with(ENOTTY);
  const std::string name = static_cast<const char*>(argument);
  if (names_[group] != name) return fails_with(ENODEV);
  ++functions[name].opens;
  const int file = ::fcntl(functions[name].file, F_DUPFD_CLOEXEC, 0);
  containers_.erase(file);
  groups_.erase(file);
  devices_[file] = name;
  return file;
}

int FakeKernel::container_ioctl(int file, unsigned long request, void* argument) {
  switch (request) {
    case VFIO_GET_API_VERSION:
      return VFIO_API_VERSION;
    case VFIO_CHECK_EXTENSION:
      return has_type1 ? 1 : 0;
    case VFIO_SET_IOMMU:
      return iommu_errno == 0 ? 0 : fails_with(iommu_errno);
    case VFIO_IOMMU_GET_INFO:
      return iommu_info(argument);
    case VFIO_IOMMU_MAP_DMA:
      return map_dma(file, load_from<vfio_iommu_type1_dma_map>(argument));
    case VFIO_IOMMU_UNMAP_DMA:
      return unmap_dma(file, load_from<vfio_iommu_type1_dma_unmap>(argument));
    default:
      return fails_with(ENOTTY);
  }
}

int FakeKernel::map_dma(int container, const vfio_iommu_type1_dma_map& request) {
  if (map_errno != 0) return fails_with(map_errno);
  const auto smallest = page_sizes & (~page_sizes + 1);
  if (((request.iova | request.size | request.vaddr) & (smallest - 1)) != 0) {
    return fails_with(EINVAL);
  }
  bool valid = false;
  for (const auto& range : ranges) {
    valid = valid || (request.iova >= range.first && request.iova + request.size - 1 <= range.last);
  }
  if (!valid) return fails_with(EINVAL);
  mappings.push_back({request.iova, request.vaddr, request.size, request.flags, container});
  return 0;
}

int FakeKernel::unmap_dma(int container, const vfio_iommu_type1_dma_unmap& request) {
  if (unmap_fails) return fails_with(EINVAL);
  const auto found = std::find_if(mappings.begin(), mappings.end(), [&](const auto& mapping) {
    return mapping.container == container && mapping.iova == request.iova &&
           mapping.size == request.size;
  });
  EXPECT_NE(found, mappings.end()) << "only what was mapped is unmapped";
  if (found == mappings.end()) return fails_with(EINVAL);
  mappings.erase(found);
  return 0;
}

const FakeMapping& FakeKernel::mapping(std::uint64_t iova) const {
  static const FakeMapping kNone;
  const auto found = std::find_if(mappings.rbegin(), mappings.rend(),
                                  [iova](const auto& mapping) { return mapping.iova == iova; });
  EXPECT_NE(found, mappings.rend());
  return found == mappings.rend() ? kNone : *found;
}

int FakeKernel::iommu_info(void* argument) const {
  auto info = load_from<vfio_iommu_type1_info>(argument);
  const auto room = info.argsz;
  info.flags = VFIO_IOMMU_INFO_PGSIZES;
  info.iova_pgsizes = page_sizes;
  info.cap_offset = 0;
  if (says_ranges) {
    std::vector<vfio_iova_range> entries;
    for (const auto& range : ranges) entries.push_back({range.first, range.last});
    info.flags |= VFIO_IOMMU_INFO_CAPS;
    info.argsz =
        store_list(argument, sizeof info, room, VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE, entries);
    if (room >= info.argsz) info.cap_offset = sizeof info;
  }
  store_to(argument, info);
  return 0;
}

int FakeKernel::region_info(const FakeVfioFunction& function, void* argument) const {
  auto info = load_from<vfio_region_info>(argument);
  const auto room = info.argsz;
  const auto found = function.regions.find(info.index);
  info.size = found == function.regions.end() ? 0 : found->second;
  info.offset = info.index * kRegionStride;
  info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
  if (function.without_mmap.count(info.index) == 0) info.flags |= VFIO_REGION_INFO_FLAG_MMAP;
  const auto sparse = function.sparse.find(info.index);
  info.cap_offset = 0;
  if (sparse != function.sparse.end()) {
    info.flags |= VFIO_REGION_INFO_FLAG_CAPS;
    info.argsz =
        store_list(argument, sizeof info, room, VFIO_REGION_INFO_CAP_SPARSE_MMAP, sparse->second);
    if (room >= info.argsz) info.cap_offset = sizeof info;
  }
  store_to(argument, info);
  return 0;
}

int FakeKernel::set_irqs(FakeVfioFunction& function, const void* argument) const {
  const auto set = load_from<vfio_irq_set>(argument);
  std::vector<int> files(set.count);
  if (set.argsz != sizeof set + set.count * sizeof(int)) return fails_with(EINVAL);
  std::memcpy(files.data(), static_cast<const char*>(argument) + sizeof set,
              set.count * sizeof(int));
  if (set.index != VFIO_PCI_MSIX_IRQ_INDEX) {
    function.messages[set.index] = files.at(0);
    return 0;
  }
  if (function.enabled == 0) {
    ++function.enables;
    const unsigned wanted = set.start + set.count;
    if (wanted > function.machine_vectors) return static_cast<int>(function.machine_vectors);
    function.enabled = wanted;
  } else if (function.no_resize && set.start + set.count > function.enabled) {
    return fails_with(EINVAL);
  }
  for (unsigned i = 0; i < set.count; ++i) function.triggers[set.start + i] = files[i];
  return 0;
}

int FakeKernel::device_ioctl(FakeVfioFunction& function, unsigned long request, void* argument) {
  if (request == VFIO_DEVICE_GET_INFO) {
    auto info = load_from<vfio_device_info>(argument);
    info.flags = VFIO_DEVICE_FLAGS_PCI | (function.can_reset ? VFIO_DEVICE_FLAGS_RESET : 0U);
    store_to(argument, info);
    return 0;
  }
  if (request == VFIO_DEVICE_GET_REGION_INFO) return region_info(function, argument);
  if (request == VFIO_DEVICE_SET_IRQS) return set_irqs(function, argument);
  if (request == VFIO_DEVICE_RESET) {
    if (function.busy_resets > 0) {
      --function.busy_resets;
      return fails_with(EAGAIN);
    }
    ++function.resets;
    return 0;
  }
  if (request != VFIO_DEVICE_GET_IRQ_INFO) return fails_with(ENOTTY);
  auto info = load_from<vfio_irq_info>(argument);
  const bool msix = info.index == VFIO_PCI_MSIX_IRQ_INDEX;
  info.count = msix ? function.vectors : function.sends_requests ? 1U : 0U;
  info.flags = VFIO_IRQ_INFO_EVENTFD;
  if (!msix || function.no_resize) info.flags |= VFIO_IRQ_INFO_NORESIZE;
  store_to(argument, info);
  return 0;
}

}  // namespace npu::test
