// SPDX-License-Identifier: Apache-2.0
#include "driver/link/fault_registers.hpp"

#include <fmt/format.h>

#include "npu/abi/registers.hpp"

namespace npu::driver {

Result<std::optional<FaultReport>> take_fault(CardLink& link) {
  const auto status = link.read<abi::FaultStatus>();
  if (!status) return forward_error(status);
  if (!status->get<abi::FaultStatus::Valid>()) return std::nullopt;
  const auto code = link.read<abi::FaultCodeRegister>();
  if (!code) return forward_error(code);
  // All ones may be the address at fault.
  const auto address = platform::read_register<abi::FaultAddress>(link.registers());
  const auto info = platform::read_register<abi::FaultInfo>(link.registers());
  const auto access = platform::read_register<abi::FaultAccess>(link.registers());
  link.write(*status);
  FaultReport report;
  report.code = static_cast<abi::FaultCode>(code->get<abi::FaultCodeRegister::Code>());
  report.opcode = static_cast<std::uint8_t>(code->get<abi::FaultCodeRegister::Opcode>());
  report.engine = static_cast<std::uint8_t>(code->get<abi::FaultCodeRegister::Engine>());
  report.address = address.raw;
  report.stream = static_cast<std::uint16_t>(info.get<abi::FaultInfo::Stream>());
  report.ring_index = static_cast<std::uint16_t>(info.get<abi::FaultInfo::RingIndex>());
  report.vmid = static_cast<std::uint8_t>(access.get<abi::FaultAccess::Vmid>());
  report.write = access.get<abi::FaultAccess::Write>() != 0;
  report.overflow = status->get<abi::FaultStatus::Overflow>() != 0;
  return report;
}

std::string describe(const FaultReport& report) {
  const auto access =
      report.vmid == abi::kVmidPhysical
          ? std::string()
          : fmt::format(" of VMID {}, {}", report.vmid, report.write ? "write" : "read");
  return fmt::format("{} (stream {}, ring index {}, opcode {:#04x}, address {:#x}{}){}",
                     to_string(report.code), report.stream, report.ring_index, report.opcode,
                     report.address, access, report.overflow ? ", and more faults after it" : "");
}

}  // namespace npu::driver
