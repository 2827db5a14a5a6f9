// SPDX-License-Identifier: Apache-2.0
// What Linux says about PCI in sysfs. Only PCI domain 0000.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/platform/pci.hpp"

namespace npu::driver::vfio {

class Sysfs {
 public:
  explicit Sysfs(std::string root) : root_(std::move(root)) {}

  // Root buses, sorted; each ends before the next begins.
  std::vector<platform::HostBridge> host_bridges() const;
  bool exists(platform::Bdf bdf) const;
  // Number of the function's IOMMU group. kNotFound: no such function; kUnsupported: it has none.
  Result<std::string> iommu_group(platform::Bdf bdf) const;
  // The driver that has it, "" if none.
  std::string driver(const std::string& function_name) const;
  // Why the function cannot be opened through VFIO, and what to do; "" if its binding and its
  // group's are as they should be.
  std::string what_is_missing(platform::Bdf bdf, const std::string& group) const;
  // Up to 4 bytes of configuration space. Nothing: the function does not exist, or the caller may
  // not see that part.
  std::optional<std::uint32_t> read_config(platform::Bdf bdf, std::uint32_t offset,
                                           unsigned width) const;
  // Sizes of the six BARs as the kernel has found them, 0: no such BAR.
  std::array<Bytes, 6> bar_sizes(platform::Bdf bdf) const;

  static std::string name(platform::Bdf bdf) {
    return (bdf.segment() == 0 ? "0000:" : "") + to_string(bdf);
  }

 private:
  std::string device(platform::Bdf bdf) const { return root_ + "/bus/pci/devices/" + name(bdf); }
  int numa_node(std::uint16_t bus) const;

  std::string root_;
};

}  // namespace npu::driver::vfio
