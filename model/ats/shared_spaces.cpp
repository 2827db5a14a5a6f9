// SPDX-License-Identifier: Apache-2.0
#include "model/ats/shared_spaces.hpp"

#include "model/ats/host_pages.hpp"

namespace npu::model {

using abi::SharedSpace;

SharedSpaces::SharedSpaces(CardRegisters& registers, HostPages& pages)
    : registers_(registers), pages_(pages) {
  registers.bank().on_write<SharedSpace>([this](SharedSpace value) { written(value); });
}

void SharedSpaces::written(SharedSpace value) {
  registers_.bank().set(SharedSpace{});
  const auto vmid = value.get<SharedSpace::Vmid>();
  const auto pasid = value.get<SharedSpace::Pasid>();
  if (vmid == abi::kVmidPhysical) return;
  const auto space = space_of(registers_.function(), vmid);
  if (value.get<SharedSpace::Enable>() == 0) {
    pages_.stop(space);
  } else if (pasid != 0) {
    pages_.share(space, pasid);
  }
}

}  // namespace npu::model
