// SPDX-License-Identifier: Apache-2.0
// What Linux says about PCI in sysfs. Only PCI domain 0000: a Bdf names no other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/platform/pci.hpp"

namespace npu::driver::vfio {

class Sysfs {
 public:
  explicit Sysfs(std::string root) : root_(std::move(root)) {}

  // Root buses, sorted; each ends before the next begins.
  std::vector<platform::HostBridge> host_bridges() const;
  // Number of the function's IOMMU group. kNotFound: no such function, or it has none.
  Result<std::string> iommu_group(platform::Bdf bdf) const;
  // Up to 4 bytes of configuration space; all ones if the function does not exist or the caller
  // may not see that part.
  std::uint32_t read_config(platform::Bdf bdf, std::uint32_t offset, unsigned width) const;

  static std::string name(platform::Bdf bdf) { return "0000:" + to_string(bdf); }

 private:
  std::string device(platform::Bdf bdf) const { return root_ + "/bus/pci/devices/" + name(bdf); }
  int numa_node(std::uint8_t bus) const;

  std::string root_;
};

}  // namespace npu::driver::vfio
