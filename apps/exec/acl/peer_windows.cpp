// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/peer_windows.hpp"

#include <fmt/format.h>

#include <iterator>

#include "apps/exec/acl/guard.hpp"

namespace npu::exec::acl {

SharedMemoryHandle share_handle(driver::AddressSpace& space, driver::MemoryHandle memory) {
  return {new driver::MemoryHandle(memory), [&space](const driver::MemoryHandle* last) {
            static_cast<void>(space.release_memory(*last));
            delete last;
          }};
}

PeerWindows::Windows::const_iterator PeerWindows::containing(std::uint32_t device,
                                                             driver::DeviceAddress at) const {
  const auto next = windows_.upper_bound({device, at.value});
  if (next == windows_.begin()) return windows_.end();
  const auto found = std::prev(next);
  const bool inside =
      found->first.first == device && at.value - found->first.second < found->second.size;
  return inside ? found : windows_.end();
}

bool PeerWindows::has(std::uint32_t device, driver::DeviceAddress at, Bytes size) const {
  if (containing(device, at) != windows_.end()) return true;
  const auto next = windows_.upper_bound({device, at.value});
  return next != windows_.end() && next->first.first == device &&
         next->first.second - at.value < size;
}

Value<PeerWindows::Reached> PeerWindows::find(const driver::AddressSpace& owner,
                                              std::uint32_t device, driver::DeviceAddress at) {
  const Guard held(*lock_);
  auto found = containing(device, at);
  if (found == windows_.end()) {
    const auto range = owner.range_of(at);
    if (!range || !range->mapped) {
      return fault(kRuntimeParameter, fmt::format("{:#x} is no device memory", at.value));
    }
    const auto window = open(owner, device, *range);
    if (!window) return forward_fault(window);
    found = windows_.emplace(Place{device, range->begin.value}, *window).first;
  }
  const Bytes offset = at.value - found->first.second;
  return Reached{found->second.here + offset, found->second.size - offset};
}

Value<SharedMemoryHandle> PeerWindows::import(const driver::AddressSpace& owner,
                                              std::uint32_t device, driver::MemoryHandle memory) {
  auto& known = imports_[{device, memory.index, memory.generation}];
  if (auto there = known.lock()) return there;
  const auto made = space_.import_memory(owner, memory);
  if (!made) return fault(made.error());  // kUnsupported: no link
  auto shared = share_handle(space_, *made);
  known = shared;
  return shared;
}

Value<PeerWindows::Window> PeerWindows::open(const driver::AddressSpace& owner,
                                             std::uint32_t device,
                                             const driver::AddressRange& range) {
  const auto memory = import(owner, device, range.memory);
  if (!memory) return forward_fault(memory);
  Window window;
  window.memory = *memory;
  window.size = (range.size + driver::kPageSize - 1) / driver::kPageSize * driver::kPageSize;
  const auto here = space_.reserve(window.size);
  Status ready = here ? Status{} : Status(forward_error(here));
  if (here) window.here = *here;
  if (ready) ready = space_.map(window.here, window.size, *window.memory, range.offset);
  if (ready) ready = space_.set_access(window.here, window.size, range.access);
  if (ready) return window;
  close(window);
  return fault(ready.error());
}

void PeerWindows::close(const Window& window) {
  static_cast<void>(space_.unmap(window.here, window.size));
  static_cast<void>(space_.release(window.here));
}

void PeerWindows::drop(std::uint32_t device, driver::DeviceAddress at, Bytes size) {
  const Guard held(*lock_);
  for (auto each = windows_.begin(); each != windows_.end();) {
    const auto& [of, begin] = each->first;
    const bool before = begin < at.value && at.value - begin >= each->second.size;
    const bool behind = begin >= at.value && begin - at.value >= size;
    if (of != device || before || behind) {
      ++each;
      continue;
    }
    const Window window = each->second;
    each = windows_.erase(each);
    close(window);
  }
}

}  // namespace npu::exec::acl
