// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/invalidator.hpp"

#include <fmt/format.h>

#include "npu/abi/registers.hpp"

namespace npu::driver {

using abi::MmuInvalidate;

Status Invalidator::range(unsigned vmid, std::uint64_t at, Bytes size) {
  if (auto ok = link_.alive(); !ok) return ok;
  if (stuck_) {
    if (auto ok = wait_idle(vmid); !ok) return ok;
  }
  link_.write(abi::MmuInvalidateAddress::from_raw(at));
  link_.write(abi::MmuInvalidateSize::from_raw(size));
  return run(vmid, MmuInvalidate::kRange);
}

Status Invalidator::space(unsigned vmid) {
  if (auto ok = link_.alive(); !ok) return ok;
  if (stuck_) {
    if (auto ok = wait_idle(vmid); !ok) return ok;
  }
  return run(vmid, MmuInvalidate::kVmid);
}

Status Invalidator::run(unsigned vmid, std::uint32_t scope) {
  link_.platform().write_barrier();
  MmuInvalidate command;
  command.set<MmuInvalidate::Vmid>(vmid);
  command.set<MmuInvalidate::Scope>(scope);
  command.set<MmuInvalidate::Start>(1);
  link_.write(command);
  return wait_idle(vmid);
}

Status Invalidator::wait_idle(unsigned vmid) {
  auto& clock = link_.clock();
  const auto deadline = clock.now() + timeout_;
  stuck_ = true;
  for (;;) {
    const auto value = link_.read<MmuInvalidate>();
    if (!value) return forward_error(value);
    if (!value->get<MmuInvalidate::Start>()) {
      stuck_ = false;
      return {};
    }
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("{}: the MMU has not dropped the translations of VMID {}",
                              to_string(link_.bdf()), vmid));
    }
    clock.relax({}, deadline);
  }
}

}  // namespace npu::driver
