// SPDX-License-Identifier: Apache-2.0
// What the HAL and the runtime ask for and the ACL does not, or only through them: advice for
// memory, allocations by address, memory by modules, agents.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "apps/compat/protocol/memory_use.hpp"
#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

using driver::DeviceAddress;
using driver::MemoryAdvice;

// Pages that nobody has touched are made on the card; nothing else stays of the advice.
Outcome populate(driver::ManagedMemory& managed, std::uint32_t device, DeviceAddress address,
                 Bytes size) {
  const auto here = driver::MemoryLocation::card(device);
  auto done = managed.advise(address, size, MemoryAdvice::kPreferredLocation, true, here);
  if (done) done = managed.advise(address, size, MemoryAdvice::kAccessedBy, true, here);
  if (done) done = managed.advise(address, size, MemoryAdvice::kAccessedBy, false, here);
  if (done) done = managed.advise(address, size, MemoryAdvice::kPreferredLocation, false);
  return outcome_of(done);
}

Outcome limit_access(Caller& caller, ProcessCard& card, DeviceAddress address, Bytes size,
                     driver::Access access) {
  const auto range = card.space().range_of(address);
  if (!range || !range->mapped || range->begin != address || size > range->size ||
      range->size - size >= driver::kPageSize) {
    return fault(kRuntimeParameter, "only whole allocations of the HAL's have an access");
  }
  caller.process().drop_windows(card.index(), address, range->size);
  return outcome_of(card.space().set_access(address, range->size, access));
}

}  // namespace

Outcome serve(Caller& caller, const CallOf<Call::kMemoryAdvise>& call) {
  const DeviceAddress address{call.address};
  const auto own = caller.card();
  if (!own) return forward_fault(own);
  const Bytes size = call.bytes;
  switch (call.advice) {
    case 1: {
      auto& managed = caller.process().managed();
      const auto* const allocation = managed.find(address);
      const bool own_heap =
          allocation != nullptr && allocation->heap && allocation->device == (*own)->index();
      if (!own_heap || !managed.has(address, size)) {
        return fault(kRuntimeParameter, "it is no memory of the device's heap");
      }
      return populate(*managed.memory(), (*own)->index(), address, size);
    }
    case 2:
      return limit_access(caller, **own, address, size, driver::Access::kRead);
    case 3:
      return limit_access(caller, **own, address, size, driver::Access::kReadWrite);
    default:
      return fault(kFeature, fmt::format("advice {}", call.advice));
  }
}

// Of the allocation, or the mapping.
Value<wire::Range> serve(Caller& caller, const CallOf<Call::kAddressRange>& call) {
  const DeviceAddress address{call.address};
  const auto card = caller.card_of(address, 1);
  if (!card) return forward_fault(card);
  if (const auto allocation = caller.process().book.find(address)) {
    return wire::Range{allocation->begin.value, allocation->size};
  }
  const auto range = (*card)->space().range_of(address);
  if (!range) return fault(kRuntimeParameter, "nothing is allocated there");
  return wire::Range{range->begin.value, range->size};
}

namespace {

// As the public tools print it.
std::string module_name(std::uint16_t module) {
  switch (module) {
    case 0:
      return "UNKNOWN";
    case 3:
      return "HCCL";
    case 6:
      return "DVPP";
    case 7:
      return "RUNTIME";
    case 33:
      return "APP";
    case 36:
      return "AICPU";
    case 45:
      return "GE";
    case 48:
      return "ASCENDCL";
    default:
      return fmt::format("MODULE_{}", module);
  }
}

bool tells_modules(const std::string& soc) {
  return soc.find("950") == std::string::npos;
}

}  // namespace

// The answer is how many modules there are, in the window.
Value<wire::Number> serve(Caller& caller, const CallOf<Call::kModuleUse>& call) {
  auto& process = caller.process();
  auto& cards = process.machine().cards;
  if (call.device < 0 || call.device >= cards.count()) {
    return fault(kInvalidDevice, fmt::format("device {}", call.device));
  }
  const auto device = static_cast<std::uint32_t>(call.device);
  if (!tells_modules(cards.soc_name(device))) return fault(kFeature, "memory by modules");
  const auto uses = process.book.uses(device);
  auto* to = call.window.data;
  for (const auto& use : uses) {
    compat::ModuleUse out;
    const auto name = module_name(use.module);
    std::memcpy(out.name, name.data(), std::min(name.size(), sizeof out.name - 1));
    out.now = use.now;
    out.most = use.most;
    std::memcpy(to, &out, sizeof out);
    to += sizeof out;
  }
  return wire::Number{uses.size()};
}

// An agent keeps the device open; one at a time.
Outcome serve(Caller& caller, const CallOf<Call::kAgent>& call) {
  auto& process = caller.process();
  const auto device = call.device;
  if (device < 0 || device >= process.machine().cards.count()) {
    return fault(kRuntimeParameter, fmt::format("device {}", device));
  }
  const auto index = static_cast<std::uint32_t>(device);
  const bool there = process.agents.count(index) != 0;
  if (there == (call.begins != 0)) return {};
  if (!there) {
    auto opened = process.set_device(device);
    if (opened) process.agents.insert(index);
    return opened;
  }
  process.agents.erase(index);
  return process.reset_device(device, false);
}

}  // namespace npu::exec::acl
