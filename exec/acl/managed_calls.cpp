// SPDX-License-Identifier: Apache-2.0
// Managed memory.
#include "exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

using driver::DeviceAddress;
using driver::MemoryLocation;

// aclrtMemManagedLocationType: device 1, host 2, NUMA node of the host 3.
Value<MemoryLocation> location_of(std::uint64_t type, std::uint64_t id) {
  if (type == 1) return MemoryLocation::card(static_cast<std::uint32_t>(id));
  if (type == 2 || type == 3) return MemoryLocation::host();
  return fault(kInvalidParameter, "no place");
}

Value<driver::ManagedMemory*> managed_of(Caller& caller, DeviceAddress address, Bytes size) {
  const auto card = caller.card_of(address, size);
  if (!card) return forward_fault(card);
  if (!(*card)->is_managed(address)) return fault(kRuntimeParameter, "it is no managed memory");
  return (*card)->known_managed();
}

// Device -1 is the host, -2 several or none.
std::int32_t number_of(const MemoryLocation& location) {
  constexpr std::int32_t kHost = -1, kMixed = -2;
  if (location.type == MemoryLocation::Type::kHost) return kHost;
  if (location.type == MemoryLocation::Type::kNone) return kMixed;
  return static_cast<std::int32_t>(location.device);
}

std::int32_t type_of(const MemoryLocation& location) {
  if (location.type == MemoryLocation::Type::kDevice) return 1;
  return location.type == MemoryLocation::Type::kHost ? 2 : 0;
}

std::int32_t accessed_by(const driver::ManagedAttributes& all) {
  for (std::int32_t device = 0; device < 64; ++device) {
    if ((all.accessed_by >> device & 1) != 0) return device;
  }
  return all.accessed_by_host ? -1 : -2;
}

}  // namespace

// Words: bytes, of the HAL's heap.
Outcome allocate_managed(Caller& caller, CallRecord& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  const auto pager = caller.process().machine().images("pager");
  if (!pager) return fault(pager.error());
  const auto address = (*card)->allocate_managed(call.words[0], call.words[1] != 0, *pager);
  if (!address) return forward_fault(address);
  call.words[0] = address->value;
  return {};
}

Outcome managed_advise(Caller& caller, CallRecord& call) {
  const DeviceAddress address{call.words[0]};
  const auto managed = managed_of(caller, address, call.words[1]);
  if (!managed) return forward_fault(managed);
  if (call.words[2] > 5) return fault(kInvalidParameter, "no advice");
  const auto advice = static_cast<driver::MemoryAdvice>(call.words[2] / 2);
  const bool set = call.words[2] % 2 == 0;
  MemoryLocation location;
  if (advice != driver::MemoryAdvice::kReadMostly && set) {
    const auto named = location_of(call.words[3], call.words[4]);
    if (!named) return forward_fault(named);
    location = *named;
  }
  return outcome_of((*managed)->advise(address, call.words[1], advice, set, location));
}

// Words: address, bytes, place's type and number, stream, by itself. Behind what the stream has.
Outcome managed_prefetch(Caller& caller, CallRecord& call) {
  const DeviceAddress address{call.words[0]};
  const auto managed = managed_of(caller, address, call.words[1]);
  if (!managed) return forward_fault(managed);
  const auto to = location_of(call.words[2], call.words[3]);
  if (!to) return forward_fault(to);
  if (call.words[5] == 0) {
    const auto stream = caller.stream(call.words[4]);
    if (!stream) return forward_fault(stream);
    auto before = synchronize(**stream, Instant::never(), kStreamTimeout);
    if (!before) return before;
  }
  const auto begun = (*managed)->prefetch(address, call.words[1], *to);
  if (!begun) return fault(begun.error());
  // Later work of the stream finds the pages there.
  return outcome_of((*managed)->wait(*begun, Instant::never()));
}

// Accesses of the card that nobody could serve, so far.
Outcome fault_errors(Caller& caller, CallRecord& call) {
  const auto card = caller.card();
  if (!card) return forward_fault(card);
  const auto* const managed = (*card)->known_managed();
  call.words[0] = managed == nullptr ? 0 : managed->statistics().fault_errors;
  return {};
}

Outcome managed_attribute(Caller& caller, CallRecord& call) {
  const DeviceAddress address{call.words[0]};
  const auto managed = managed_of(caller, address, call.words[1]);
  if (!managed) return forward_fault(managed);
  const auto all = (*managed)->attributes(address, call.words[1]);
  if (!all) return fault(all.error());
  std::int32_t value = 0;
  switch (call.words[2]) {
    case 1:
      value = all->read_mostly ? 1 : 0;
      break;
    case 2:
    case 5:
      value = number_of(all->preferred);
      break;
    case 3:
      value = accessed_by(*all);
      break;
    case 4:
      value = type_of(all->preferred);
      break;
    case 6:
      value = number_of(all->last_prefetch);
      break;
    case 7:
      value = type_of(all->last_prefetch);
      break;
    case 8:
      value = number_of(all->last_prefetch);
      break;
    default:
      return fault(kInvalidParameter, "no attribute");
  }
  call.words[0] = static_cast<std::uint32_t>(value);
  return {};
}

}  // namespace npu::exec::acl
