// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/host_windows.hpp"

#include "apps/exec/acl/guard.hpp"

namespace npu::exec::acl {

HostWindows::~HostWindows() {
  for (const auto& [memory, window] : windows_) close(window);
}

Value<driver::DeviceAddress> HostWindows::find(const Memory& memory) {
  const Guard held(*lock_);
  const auto known = windows_.find(memory.get());
  if (known != windows_.end()) return known->second.here;
  Window window;
  window.memory = memory;
  window.size = (memory->size() + driver::kPageSize - 1) / driver::kPageSize * driver::kPageSize;
  if (const auto ready = open(window); !ready) {
    close(window);
    return fault(ready.error());
  }
  windows_[memory.get()] = window;
  return window.here;
}

Status HostWindows::open(Window& window) {
  const auto handle = space_.import_host_memory(*window.memory);
  if (!handle) return forward_error(handle);
  window.handle = *handle;
  const auto here = space_.reserve(window.size);
  if (!here) return forward_error(here);
  window.here = *here;
  return space_.map(window.here, window.size, window.handle, 0, driver::Access::kReadWrite);
}

// What there is of it.
void HostWindows::close(const Window& window) {
  if (window.here.value != 0) {
    static_cast<void>(space_.unmap(window.here, window.size));
    static_cast<void>(space_.release(window.here));
  }
  if (window.handle.generation != 0) static_cast<void>(space_.release_memory(window.handle));
}

void HostWindows::drop(const Memory& memory) {
  const Guard held(*lock_);
  const auto gone = windows_.extract(memory.get());
  if (!gone.empty()) close(gone.mapped());
}

}  // namespace npu::exec::acl
