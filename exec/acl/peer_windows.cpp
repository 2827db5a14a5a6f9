// SPDX-License-Identifier: Apache-2.0
#include "exec/acl/peer_windows.hpp"

#include <fmt/format.h>

#include <iterator>

#include "exec/acl/guard.hpp"

namespace npu::exec::acl {

PeerWindows::Windows::const_iterator PeerWindows::containing(std::uint32_t device,
                                                             driver::DeviceAddress at) const {
  const auto next = windows_.upper_bound({device, at.value});
  if (next == windows_.begin()) return windows_.end();
  const auto found = std::prev(next);
  const bool inside =
      found->first.first == device && at.value - found->first.second < found->second.size;
  return inside ? found : windows_.end();
}

bool PeerWindows::has(std::uint32_t device, driver::DeviceAddress at) const {
  return containing(device, at) != windows_.end();
}

Value<driver::DeviceAddress> PeerWindows::find(const driver::AddressSpace& owner,
                                               std::uint32_t device, driver::DeviceAddress at) {
  const Guard held(*lock_);
  auto found = containing(device, at);
  if (found == windows_.end()) {
    const auto range = owner.range_of(at);
    if (!range || !range->mapped) {
      return fault(kRuntimeParameter, fmt::format("{:#x} is no device memory", at.value));
    }
    const auto window = open(owner, *range);
    if (!window) return forward_fault(window);
    found = windows_.emplace(Place{device, range->begin.value}, *window).first;
  }
  return found->second.here + (at.value - found->first.second);
}

Value<PeerWindows::Window> PeerWindows::open(const driver::AddressSpace& owner,
                                             const driver::AddressRange& range) {
  const auto memory = space_.import_memory(owner, range.memory);
  if (!memory && memory.error().code == ErrorCode::kUnsupported) {
    return fault(kFeature, memory.error().message());
  }
  if (!memory) return fault(memory.error());
  Window window;
  window.memory = *memory;
  window.size = (range.size + driver::kPageSize - 1) / driver::kPageSize * driver::kPageSize;
  const auto here = space_.reserve(window.size);
  Status ready = here ? Status{} : Status(forward_error(here));
  if (here) window.here = *here;
  if (ready) ready = space_.map(window.here, window.size, window.memory, range.offset);
  if (ready) ready = space_.set_access(window.here, window.size, driver::Access::kReadWrite);
  if (ready) return window;
  close(window);
  return fault(ready.error());
}

void PeerWindows::close(const Window& window) {
  static_cast<void>(space_.unmap(window.here, window.size));
  static_cast<void>(space_.release(window.here));
  static_cast<void>(space_.release_memory(window.memory));
}

void PeerWindows::drop(std::uint32_t device, driver::DeviceAddress at) {
  const Guard held(*lock_);
  const auto found = containing(device, at);
  if (found == windows_.end()) return;
  const Window window = found->second;
  windows_.erase(found);
  close(window);
}

void PeerWindows::drop(std::uint32_t device) {
  const Guard held(*lock_);
  for (auto each = windows_.begin(); each != windows_.end();) {
    if (each->first.first != device) {
      ++each;
      continue;
    }
    const Window window = each->second;
    each = windows_.erase(each);
    close(window);
  }
}

}  // namespace npu::exec::acl
