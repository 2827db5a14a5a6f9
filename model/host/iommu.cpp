// SPDX-License-Identifier: Apache-2.0
#include "model/host/iommu.hpp"

#include <algorithm>
#include <iterator>
#include <systemc>

#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

// Unmapped bus addresses between two mappings.
constexpr Bytes kGuard = 64 * 1024;

// The part of a mapping from `begin` to `end`, bytes of it.
Iommu::Mapping part_of(const Iommu::Mapping& whole, Bytes begin, Bytes end) {
  Iommu::Mapping part = whole;
  part.bus += begin;
  part.memory = {whole.memory.data + begin, end - begin};
  return part;
}

}  // namespace

std::uint64_t Iommu::allocate(Bytes size, Bytes alignment) {
  const std::uint64_t bus = align_down(next_bus_ + alignment - 1, alignment);
  next_bus_ = bus + size + kGuard;
  return bus;
}

// The first mapping that ends behind `bus`.
Iommu::Mappings::iterator Iommu::first_behind(std::uint32_t requester, std::uint64_t bus) {
  const auto next = mappings_.lower_bound({requester, bus});
  if (next == mappings_.begin()) return next;
  const auto before = std::prev(next);
  const auto& mapping = before->second;
  const bool reaches = mapping.requester == requester && bus - mapping.bus < mapping.memory.size;
  return reaches ? before : next;
}

bool Iommu::map(const Mapping& mapping) {
  const auto next = first_behind(mapping.requester, mapping.bus);
  if (next != mappings_.end() && next->second.requester == mapping.requester) {
    const auto& met = next->second;
    if (met.bus <= mapping.bus || met.bus - mapping.bus < mapping.memory.size) return false;
  }
  mappings_.emplace(Place{mapping.requester, mapping.bus}, mapping);
  return true;
}

void Iommu::take_out(std::uint32_t requester, std::uint64_t bus, Bytes size, bool retire) {
  last_ = nullptr;
  auto it = first_behind(requester, bus);
  while (it != mappings_.end() && it->second.requester == requester &&
         (it->second.bus <= bus || it->second.bus - bus < size)) {
    const Mapping whole = it->second;
    it = mappings_.erase(it);
    const Bytes kept = whole.bus < bus ? bus - whole.bus : 0;  // in front
    if (kept > 0) mappings_.emplace(Place{requester, whole.bus}, part_of(whole, 0, kept));
    const Bytes gone = kept > 0 ? kept + size : size - (whole.bus - bus);
    if (retire) {
      auto middle = part_of(whole, kept, std::min<Bytes>(gone, whole.memory.size));
      middle.retired = true;
      mappings_.emplace(Place{requester, middle.bus}, middle);
    }
    if (gone < whole.memory.size) {
      const auto rest = part_of(whole, gone, whole.memory.size);
      it = mappings_.emplace(Place{requester, rest.bus}, rest).first;
    }
  }
}

void Iommu::bind(std::uint32_t requester, std::uint64_t bus, std::uint32_t pasid) {
  const auto it = mappings_.find({requester, bus});
  sc_assert(it != mappings_.end());
  it->second.pasid = pasid;
}

const Iommu::Mapping* Iommu::find(DmaRequester requester, std::uint64_t bus) {
  const auto hit = [&](const Mapping& m) {
    return m.requester == requester.function && (!m.retired || requester.translated) &&
           (requester.pasid == 0 || m.pasid == requester.pasid) && bus >= m.bus &&
           bus - m.bus < m.memory.size;
  };
  if (last_ && hit(*last_)) return last_;
  const auto it = first_behind(requester.function, bus);
  if (it == mappings_.end() || !hit(it->second)) return nullptr;
  last_ = &it->second;
  return last_;
}

Iommu::Translation Iommu::translate(DmaRequester requester, std::uint64_t bus, Bytes length,
                                    bool device_writes) {
  const auto* mapping = find(requester, bus);
  if (!mapping || !range_fits(bus - mapping->bus, length, mapping->memory.size)) return {};
  const auto forbidden =
      device_writes ? platform::DmaDirection::kDeviceReads : platform::DmaDirection::kDeviceWrites;
  if (mapping->direction == forbidden) return {Completion::kPermission, nullptr};
  return {Completion::kSuccess, mapping};
}

}  // namespace npu::model
