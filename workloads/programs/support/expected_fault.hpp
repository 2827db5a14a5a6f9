// SPDX-License-Identifier: Apache-2.0
// Commands that the card has to refuse.
#pragma once

#include "npu/abi/fault.hpp"
#include "workloads/programs/support/tried_card.hpp"

namespace npu::workloads {

struct ExpectedFault {
  driver::DmaCommand command;
  abi::FaultCode code = abi::FaultCode::kNone;
  std::uint64_t address = 0;
  bool write = false;  // to that address; only told of device addresses
};

// Submits the command twice, each time on an event of its own. kBadDevice unless it comes back as
// kDeviceFault, the fault registers name the fault, the stream and the address, the fault is
// latched once only, and the card copies as before afterwards.
Status expect_fault(TriedCard& card, const ExpectedFault& expected);

}  // namespace npu::workloads
