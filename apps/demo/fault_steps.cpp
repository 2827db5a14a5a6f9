// SPDX-License-Identifier: Apache-2.0
// Addresses that a command must not use. Each comes back as the fault the specification names
// (abi/fault.hpp), touches nothing, and leaves the card usable.
#include <fmt/format.h>

#include "apps/demo/faults.hpp"
#include "apps/demo/pattern.hpp"
#include "apps/demo/steps.hpp"

namespace npu::demo {
namespace {

using abi::FaultCode;
using driver::DmaCommand;
using platform::BusAddress;
using platform::DmaDirection;

constexpr Bytes kFaultBytes = 8_KiB;
constexpr unsigned kUntouched = 0xC5;
// Platforms map DMA memory elsewhere: VFIO from 4 GiB on, the simulator's host from 1 GiB.
constexpr BusAddress kNowhere{0x10'0000};

struct Place {
  driver::DeviceMemory memory;
  std::unique_ptr<platform::DmaMemory> host;
};

Result<Place> make_place(Session& session, DmaDirection direction = DmaDirection::kBidirectional) {
  Place place;
  const auto memory = session.device().allocate(kFaultBytes);
  if (!memory) return forward_error(memory);
  place.memory = *memory;
  auto host = session.device().allocate_host(kFaultBytes, direction);
  if (!host) return forward_error(host);
  place.host = std::move(*host);
  fill_value(place.host->cpu(), kUntouched);
  return place;
}

Result<std::string> finish(Session& session, const Status& outcome, const Place& place,
                           FaultCode code, std::uint64_t address) {
  if (!outcome) return forward_error(outcome);
  if (place.host) {
    auto ok = check_value(place.host->cpu(), kUntouched, "host memory");
    if (!ok) return forward_error(ok);
  }
  if (auto ok = session.device().free(place.memory.address); !ok) return forward_error(ok);
  return fmt::format("{} at {:#x}, twice; the card copies on", to_string(code), address);
}

}  // namespace

Result<std::string> fault_unmapped(Session& session) {
  const auto place = make_place(session);
  if (!place) return forward_error(place);
  const auto at = place->memory.address;
  Status outcome = expect_fault(session, DmaCommand::device_to_host(at, kNowhere, kFaultBytes),
                                {FaultCode::kHostAddress, kNowhere.value});
  if (outcome) {
    outcome = expect_fault(session, DmaCommand::host_to_device(kNowhere, at, kFaultBytes),
                           {FaultCode::kHostAddress, kNowhere.value});
  }
  return finish(session, outcome, *place, FaultCode::kHostAddress, kNowhere.value);
}

Result<std::string> fault_read_only(Session& session) {
  const auto place = make_place(session, DmaDirection::kDeviceReads);
  if (!place) return forward_error(place);
  const auto bus = place->host->bus();
  const auto at = place->memory.address;
  // The direction that is allowed, with what was stored there after it was mapped.
  fill_pattern(place->host->cpu(), kFaultBytes);
  if (auto ok = session.copy(DmaCommand::host_to_device(bus, at, kFaultBytes)); !ok) {
    return forward_error(ok);
  }
  const auto back = session.device().allocate_host(kFaultBytes, DmaDirection::kDeviceWrites);
  if (!back) return forward_error(back);
  if (auto ok = session.copy(DmaCommand::device_to_host(at, (*back)->bus(), kFaultBytes)); !ok) {
    return forward_error(ok);
  }
  auto equal = check_pattern((*back)->cpu(), kFaultBytes, "read from read-only memory");
  if (!equal) return forward_error(equal);
  fill_value(place->host->cpu(), kUntouched);
  const auto outcome = expect_fault(session, DmaCommand::device_to_host(at, bus, kFaultBytes),
                                    {FaultCode::kHostPermission, bus.value});
  return finish(session, outcome, *place, FaultCode::kHostPermission, bus.value);
}

Result<std::string> fault_after_unmap(Session& session) {
  auto place = make_place(session);
  if (!place) return forward_error(place);
  const auto bus = place->host->bus();
  const auto command = DmaCommand::device_to_host(place->memory.address, bus, kFaultBytes);
  if (auto ok = session.copy(command); !ok) return forward_error(ok);  // while it is mapped
  place->host.reset();
  const auto outcome = expect_fault(session, command, {FaultCode::kHostAddress, bus.value});
  return finish(session, outcome, *place, FaultCode::kHostAddress, bus.value);
}

// The fault names the first address that is not mapped. What lies behind a mapping is another one,
// if memory was taken there meanwhile, and so the mapping is the highest one of three.
Result<std::string> fault_past_the_end(Session& session) {
  auto place = make_place(session);
  if (!place) return forward_error(place);
  for (int i = 0; i < 2; ++i) {
    auto other = session.device().allocate_host(kFaultBytes);
    if (!other) return forward_error(other);
    if ((*other)->bus().value > place->host->bus().value) place->host = std::move(*other);
  }
  const auto end = place->host->bus().value + kFaultBytes;
  const auto command = DmaCommand::device_to_host(
      place->memory.address, place->host->bus() + kFaultBytes / 2, kFaultBytes);
  const auto outcome = expect_fault(session, command, {FaultCode::kHostAddress, end});
  place->host.reset();
  return finish(session, outcome, *place, FaultCode::kHostAddress, end);
}

Result<std::string> fault_device_address(Session& session) {
  const auto place = make_place(session);
  if (!place) return forward_error(place);
  const auto reserved = session.device().address_space().reserve(driver::kPageSize);
  if (!reserved) return forward_error(reserved);
  const auto bus = place->host->bus();
  Status outcome = expect_fault(session, DmaCommand::host_to_device(bus, *reserved, kFaultBytes),
                                {FaultCode::kTranslation, reserved->value, true});
  if (outcome) {
    outcome = expect_fault(session, DmaCommand::device_to_host(*reserved, bus, kFaultBytes),
                           {FaultCode::kTranslation, reserved->value, false});
  }
  if (auto ok = session.device().address_space().release(*reserved); !ok && outcome) outcome = ok;
  return finish(session, outcome, *place, FaultCode::kTranslation, reserved->value);
}

Result<std::string> fault_freed_memory(Session& session) {
  const auto place = make_place(session);
  if (!place) return forward_error(place);
  const auto freed = session.device().allocate(kFaultBytes);
  if (!freed) return forward_error(freed);
  const auto command = DmaCommand::host_to_device(place->host->bus(), freed->address, kFaultBytes);
  if (auto ok = session.copy(command); !ok) return forward_error(ok);  // while it is mapped
  if (auto ok = session.device().free(freed->address); !ok) return forward_error(ok);
  const auto at = freed->address.value;
  const auto outcome = expect_fault(session, command, {FaultCode::kTranslation, at, true});
  return finish(session, outcome, *place, FaultCode::kTranslation, at);
}

}  // namespace npu::demo
