// SPDX-License-Identifier: Apache-2.0
// Pinned host memory of a program as kernels of one card reach it: mapped into the card's address
// space when the program first asks for its device address, until it is unregistered or freed.
#pragma once

#include <map>
#include <memory>

#include "apps/exec/acl/outcome.hpp"
#include "npu/driver/address_space.hpp"
#include "npu/platform/memory.hpp"
#include "npu/platform/time.hpp"

namespace npu::exec::acl {

class HostWindows {
 public:
  HostWindows(driver::AddressSpace& space, platform::Tasks& tasks)
      : space_(space), lock_(tasks.make_mutex()) {}
  ~HostWindows();
  HostWindows(const HostWindows&) = delete;
  HostWindows& operator=(const HostWindows&) = delete;

  using Memory = std::shared_ptr<platform::DmaMemory>;
  // The device address of the memory's first byte.
  Value<driver::DeviceAddress> find(const Memory& memory);
  // It is not mapped any more: later accesses of kernels fault.
  void drop(const Memory& memory);

 private:
  struct Window {
    Memory memory;
    driver::DeviceAddress here;
    Bytes size = 0;  // whole pages
    driver::MemoryHandle handle;
  };
  Status open(Window& window);
  void close(const Window& window);

  driver::AddressSpace& space_;
  std::unique_ptr<platform::Mutex> lock_;
  std::map<const platform::DmaMemory*, Window> windows_;
};

}  // namespace npu::exec::acl
