// SPDX-License-Identifier: Apache-2.0
// Addresses that a command must not use. Each comes back as the fault the specification names
// (abi/fault.hpp), touches nothing, and leaves the card usable.
#include <algorithm>
#include <string>
#include <vector>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/expected_fault.hpp"

namespace npu::workloads {
namespace programs::address_faults {
namespace {

using abi::FaultCode;
using driver::DmaCommand;
using platform::DmaDirection;

constexpr Bytes kSize = 8_KiB;
constexpr std::byte kUntouched{0xC5};
// Platforms map DMA memory elsewhere: VFIO from 4 GiB on, the simulator's host from 1 GiB.
constexpr platform::BusAddress kNowhere{0x10'0000};

constexpr Figure<std::size_t> kFigures[] = {{"faults", "", itself}};

// What commands of one kind go from and to.
struct Place {
  TriedCard& card;
  driver::DeviceAddress memory;
  std::unique_ptr<platform::DmaMemory> host;  // null: it was given back
  bool is_touched = false;                    // a part of it is the card's to write
};

// The direction that is allowed carries what was stored there after it was mapped.
Status make_read_only(Place& place) {
  auto& device = *place.card.device;
  auto host = device.allocate_host(kSize, DmaDirection::kDeviceReads);
  if (!host) return forward_error(host);
  place.host = std::move(*host);
  const auto back = device.allocate_host(kSize, DmaDirection::kDeviceWrites);
  if (!back) return forward_error(back);
  fill_pattern(place.host->cpu(), kSize);
  for (const auto& command : {DmaCommand::host_to_device(place.host->bus(), place.memory, kSize),
                              DmaCommand::device_to_host(place.memory, (*back)->bus(), kSize)}) {
    if (auto ok = place.card.copy(command); !ok) return ok;
  }
  return check_equal(place.host->cpu(), (*back)->cpu(), "read from read-only memory");
}

// What lies behind a mapping is another one, if memory was taken there meanwhile, and so the
// mapping is the highest one of three.
Status take_highest(Place& place) {
  for (int i = 0; i < 2; ++i) {
    auto other = place.card.device->allocate_host(kSize);
    if (!other) return forward_error(other);
    if ((*other)->bus().value > place.host->bus().value) place.host = std::move(*other);
  }
  return {};
}

// Commands of a kind, from host memory and to it.
Result<std::vector<ExpectedFault>> faults_of(const std::string& kind, Place& place) {
  using Faults = std::vector<ExpectedFault>;
  auto& card = place.card;
  auto& space = card.device->address_space();
  const auto both = [](driver::DeviceAddress at, platform::BusAddress bus) {
    return std::pair(DmaCommand::host_to_device(bus, at, kSize),
                     DmaCommand::device_to_host(at, bus, kSize));
  };
  if (kind == "unmapped") {
    const auto [in, out] = both(place.memory, kNowhere);
    return Faults{{in, FaultCode::kHostAddress, kNowhere.value},
                  {out, FaultCode::kHostAddress, kNowhere.value}};
  }
  if (kind == "read_only") {
    if (auto ok = make_read_only(place); !ok) return forward_error(ok);
    const auto bus = place.host->bus();
    return Faults{{both(place.memory, bus).second, FaultCode::kHostPermission, bus.value}};
  }
  const auto bus = place.host->bus();
  const auto out = both(place.memory, bus).second;
  if (kind == "after_unmap") {
    if (auto ok = card.copy(out); !ok) return forward_error(ok);  // while it is mapped
    place.host.reset();
    return Faults{{out, FaultCode::kHostAddress, bus.value}};
  }
  if (kind == "past_the_end") {  // the first address that is not mapped
    if (auto ok = take_highest(place); !ok) return forward_error(ok);
    place.is_touched = true;
    const auto end = place.host->bus().value + kSize;
    return Faults{
        {both(place.memory, place.host->bus() + kSize / 2).second, FaultCode::kHostAddress, end}};
  }
  if (kind == "device_address") {
    const auto reserved = space.reserve(driver::kPageSize);
    if (!reserved) return forward_error(reserved);
    const auto [write, read] = both(*reserved, bus);
    return Faults{{write, FaultCode::kTranslation, reserved->value, true},
                  {read, FaultCode::kTranslation, reserved->value, false}};
  }
  const auto freed = card.device->allocate(kSize);
  if (!freed) return forward_error(freed);
  const auto write = both(freed->address, bus).first;
  if (auto ok = card.copy(write); !ok) return forward_error(ok);  // while it is mapped
  if (auto ok = card.device->free(freed->address); !ok) return forward_error(ok);
  return Faults{{write, FaultCode::kTranslation, freed->address.value, true}};
}

Status try_kind(TriedCard& card, const std::string& kind) {
  const auto memory = card.device->allocate(kSize);
  if (!memory) return forward_error(memory);
  auto host = card.device->allocate_host(kSize);
  if (!host) return forward_error(host);
  Place place{card, memory->address, std::move(*host)};
  const auto faults = faults_of(kind, place);
  if (!faults) return forward_error(faults);
  const std::vector<std::byte> untouched(kSize, kUntouched);
  if (place.host) std::copy(untouched.begin(), untouched.end(), place.host->cpu().data);
  for (const auto& fault : *faults) {
    if (auto ok = expect_fault(card, fault); !ok) return ok;
  }
  if (place.host && !place.is_touched) {
    auto ok = check_equal({untouched.data(), kSize}, place.host->cpu(), "host memory");
    if (!ok) return ok;
  }
  report_figures(card.context, "address_faults." + kind + ".", kFigures, faults->size());
  return card.device->free(memory->address);
}

Status run(Context& context) {
  auto card = TriedCard::open(context);
  if (!card) return forward_error(card);
  for (const auto& kind : context.parameters.choices("kinds")) {
    if (auto ok = try_kind(*card, kind); !ok) return ok;
  }
  context.report.add_note("each came back twice as the fault it is, and the card copied on");
  return card->device->shutdown();
}

}  // namespace
}  // namespace programs::address_faults

Workload address_faults() {
  const std::string kinds =
      "unmapped,read_only,after_unmap,past_the_end,device_address,freed_memory";
  return {"address_faults",
          "Copies with addresses that they must not use: each is refused as the fault it is",
          {choices_parameter("kinds", kinds, "kinds of addresses",
                             {"unmapped", "read_only", "after_unmap", "past_the_end",
                              "device_address", "freed_memory"}),
           ring_parameter(), card_parameter()},
          programs::address_faults::run,
          figure_rows(programs::address_faults::kFigures)};
}

}  // namespace npu::workloads
