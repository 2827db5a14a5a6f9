// SPDX-License-Identifier: Apache-2.0
// A VFIO container: the IOMMU address space that all functions opened through it share.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "driver/vfio/file.hpp"
#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/platform/memory.hpp"

namespace npu::driver::vfio {

class Container {
 public:
  // kUnsupported: no VFIO or no type 1 IOMMU; kPermissionDenied.
  static Result<Container> open(const std::string& vfio_path, std::uint64_t first_bus_address);

  // The descriptor of function `name` ("0000:01:00.0") of `group`. Attaches the group first.
  Result<File> open_device(const std::string& group, const std::string& name);
  // Lets the functions reach [data, data + size) at the returned bus address.
  Result<platform::BusAddress> map(void* data, Bytes size, Bytes alignment,
                                   platform::DmaDirection direction);
  void unmap(platform::BusAddress bus);

 private:
  Result<int> attach(const std::string& group);
  std::uint64_t find_gap(Bytes size, Bytes alignment) const;

  std::string path_;
  std::uint64_t first_ = 0;
  File container_;
  std::map<std::string, File> groups_;
  std::map<std::uint64_t, Bytes> mapped_;  // bus address -> size
  bool has_iommu_ = false;
};

}  // namespace npu::driver::vfio
