// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/memory_book.hpp"

#include <algorithm>
#include <iterator>

namespace npu::exec::acl {
namespace {

constexpr std::uint64_t kModules = 256;

template <class Map, class Condition>
void drop_if(Map& map, Condition condition) {
  for (auto each = map.begin(); each != map.end();) {
    each = condition(*each) ? map.erase(each) : std::next(each);
  }
}

}  // namespace

MemoryBook::Entry MemoryBook::take(std::uint32_t device, Bytes size, std::uint64_t module) {
  const auto number = static_cast<std::uint16_t>(module < kModules ? module : 0);
  auto& use = uses_[{device, number}];
  use.module = number;
  use.now += size;
  use.most = std::max(use.most, use.now);
  return {device, number, size};
}

void MemoryBook::give_back(const Entry& entry) {
  uses_[{entry.device, entry.module}].now -= entry.size;
}

void MemoryBook::add(std::uint32_t device, driver::DeviceAddress begin, Bytes size,
                     std::uint64_t module) {
  allocations_[begin.value] = take(device, size, module);
}

std::vector<MemoryBook::Allocation> MemoryBook::of(std::uint32_t device) const {
  std::vector<Allocation> all;
  for (const auto& [begin, entry] : allocations_) {
    if (entry.device == device) all.push_back({driver::DeviceAddress{begin}, entry.size});
  }
  return all;
}

void MemoryBook::remove(driver::DeviceAddress begin) {
  const auto found = allocations_.find(begin.value);
  if (found == allocations_.end()) return;
  give_back(found->second);
  allocations_.erase(found);
}

void MemoryBook::add_physical(std::uint64_t handle, std::uint32_t device, Bytes size,
                              std::uint64_t module) {
  physicals_[handle] = take(device, size, module);
}

void MemoryBook::remove_physical(std::uint64_t handle) {
  const auto found = physicals_.find(handle);
  if (found == physicals_.end()) return;
  give_back(found->second);
  physicals_.erase(found);
}

void MemoryBook::forget(std::uint32_t device) {
  const auto gone = [device](const auto& each) { return each.second.device == device; };
  drop_if(allocations_, gone);
  drop_if(physicals_, gone);
  drop_if(uses_, [device](const auto& each) { return each.first.first == device; });
}

std::optional<MemoryBook::Allocation> MemoryBook::find(driver::DeviceAddress address) const {
  auto found = allocations_.upper_bound(address.value);
  if (found == allocations_.begin()) return std::nullopt;
  --found;
  if (address.value - found->first >= found->second.size) return std::nullopt;
  return Allocation{{found->first}, found->second.size};
}

std::vector<MemoryBook::Use> MemoryBook::uses(std::uint32_t device) const {
  std::vector<Use> all;
  for (const auto& [key, use] : uses_) {
    if (key.first == device) all.push_back(use);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Use& a, const Use& b) { return a.now > b.now; });
  return all;
}

}  // namespace npu::exec::acl
