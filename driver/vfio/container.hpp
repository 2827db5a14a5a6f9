// SPDX-License-Identifier: Apache-2.0
// A VFIO container with one group in it: an IOMMU address space that the functions of the group
// share, and nobody else does. So a card reaches no memory of another one.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "driver/vfio/bus_space.hpp"
#include "driver/vfio/file.hpp"
#include "driver/vfio/kernel.hpp"
#include "npu/base/result.hpp"
#include "npu/platform/memory.hpp"

namespace npu::driver::vfio {

class Container {
 public:
  // Whether there is a VFIO with a type 1 IOMMU at all: kUnsupported, kPermissionDenied.
  static Status check(Kernel& kernel, const std::string& vfio_path);
  // kNotFound: no such group node; kBusy: another process has the group; kPermissionDenied: not
  // viable, or not allowed; kUnsupported: no IOMMU for it; kIo.
  static Result<std::shared_ptr<Container>> open(Kernel& kernel, const std::string& vfio_path,
                                                 const std::string& group,
                                                 std::uint64_t first_bus_address);

  // The descriptor of function `name` ("0000:01:00.0").
  Result<FileDescriptor> open_device(const std::string& name);
  // Lets the functions reach [data, data + size) at the returned bus address, which has the last
  // `alignment` bytes to itself. `data` and `size` are multiples of page_size(). kOutOfMemory: may
  // not be pinned; kOutOfResources: no address or no mapping left; kIo.
  Result<platform::BusAddress> map(void* data, Bytes size, Bytes alignment,
                                   platform::DmaDirection direction);
  void unmap(platform::BusAddress bus, Bytes size);
  // Of the IOMMU, and not smaller than the processor's.
  Bytes page_size() const { return page_size_; }

 private:
  explicit Container(Kernel& kernel) : kernel_(kernel) {}
  static Result<FileDescriptor> open_node(Kernel& kernel, const std::string& vfio_path);
  Status add_group(const std::string& vfio_path, const std::string& group);
  void read_limits(std::uint64_t first_bus_address);
  tl::unexpected<Error> map_error(Bytes size) const;

  Kernel& kernel_;
  FileDescriptor container_, group_;
  std::string name_;  // of the group
  Bytes page_size_ = 4096;
  std::mutex mutex_;  // space_
  std::optional<BusSpace> space_;
};

}  // namespace npu::driver::vfio
