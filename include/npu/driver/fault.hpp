// SPDX-License-Identifier: Apache-2.0
// The card's fault registers, as Device::take_fault() reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "npu/abi/fault.hpp"
#include "npu/driver/export.hpp"

namespace npu::driver {

struct FaultReport {
  abi::FaultCode code = abi::FaultCode::kNone;
  std::uint8_t opcode = 0;     // of the command at fault; 0: none
  std::uint8_t engine = 0xFF;  // 0xFF: none
  std::uint64_t address = 0;   // device-local or bus address, depending on `code`
  std::uint16_t stream = 0;
  std::uint16_t ring_index = 0;
  std::uint8_t vmid = 0;  // of the access; 0: device-local address, or none
  bool write = false;
  bool overflow = false;  // more faults followed
};

// One line of text: code, stream, ring index, opcode, address.
NPU_API std::string describe(const FaultReport& report);

}  // namespace npu::driver
