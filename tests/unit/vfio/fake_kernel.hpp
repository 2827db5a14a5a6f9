// SPDX-License-Identifier: Apache-2.0
// A VFIO without hardware: groups with a function each, whose regions are a file in memory.
#pragma once

#include <linux/vfio.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "driver/vfio/kernel.hpp"
#include "driver/vfio/vfio_platform.hpp"
#include "tests/unit/vfio/folder.hpp"

namespace npu::test {

using driver::vfio::VfioPlatform;

inline constexpr platform::Bdf kCard{1, 0, 0};
inline constexpr char kCardName[] = "0000:01:00.0";
inline constexpr std::uint64_t kRegionStride = std::uint64_t{1} << 40;  // in the device's file

struct FakeVfioFunction {
  std::map<unsigned, Bytes> regions{
      {0, 32768}, {2, Bytes{1} << 20}, {VFIO_PCI_CONFIG_REGION_INDEX, 4096}};
  std::map<unsigned, std::vector<vfio_region_sparse_mmap_area>> sparse;
  std::set<unsigned> without_mmap;
  bool can_reset = true;
  unsigned busy_resets = 0;  // that answer EAGAIN first
  unsigned vectors = 256, machine_vectors = 256;
  bool no_resize = true;
  bool sends_requests = true;
  // What was done to it.
  unsigned resets = 0, enables = 0, opens = 0;
  unsigned enabled = 0;              // MSI-X vectors
  std::map<unsigned, int> triggers;  // of MSI-X
  std::map<unsigned, int> messages;  // VFIO_PCI_ERR_IRQ_INDEX, ..REQ..
  int file = -1;

  std::uint64_t load(unsigned region, Bytes offset) const;
  void store(unsigned region, Bytes offset, std::uint64_t value, unsigned width) const;
  void signal(int event) const;
};

struct FakeMapping {
  std::uint64_t iova = 0, vaddr = 0, size = 0;
  unsigned flags = 0;
  int container = -1;
};

class FakeKernel : public driver::vfio::Kernel {
 public:
  FakeKernel();
  int open(const std::string& path, int flags) override;
  int ioctl(int file, unsigned long request, void* argument) override;
  void* map(int file, std::uint64_t offset, std::size_t size) override;

  // A function in a group of its own, bound to vfio-pci.
  FakeVfioFunction& add(platform::Bdf bdf, const std::string& group);
  driver::VfioOptions options() const;
  // The newest at a bus address.
  const FakeMapping& mapping(std::uint64_t iova) const;

  Folder folder;
  std::map<std::string, FakeVfioFunction> functions;  // by name
  std::vector<FakeMapping> mappings;  // of all containers, in the order they were made
  std::vector<driver::vfio::BusRange> ranges{{0, 0xFEDF'FFFF}, {0xFEF0'0000, (1ULL << 48) - 1}};
  bool says_ranges = true;
  std::uint64_t page_sizes = ~std::uint64_t{4095};
  bool has_type1 = true, viable = true;
  int map_errno = 0, iommu_errno = 0, open_group_errno = 0;
  bool unmap_fails = false;
  bool maps = true;  // off: mmap() of devices fails

 private:
  int group_ioctl(const std::string& group, unsigned long request, void* argument);
  int container_ioctl(int file, unsigned long request, void* argument);
  int device_ioctl(FakeVfioFunction& function, unsigned long request, void* argument);
  int region_info(const FakeVfioFunction& function, void* argument) const;
  int iommu_info(void* argument) const;
  int set_irqs(FakeVfioFunction& function, const void* argument) const;
  int map_dma(int container, const vfio_iommu_type1_dma_map& request);
  int unmap_dma(int container, const vfio_iommu_type1_dma_unmap& request);

  std::map<int, std::string> containers_, groups_, devices_;  // by descriptor
  std::map<std::string, std::string> names_;                  // group -> function
};

}  // namespace npu::test
