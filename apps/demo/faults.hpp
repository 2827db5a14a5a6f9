// SPDX-License-Identifier: Apache-2.0
// Commands that the card has to refuse.
#pragma once

#include "apps/demo/session.hpp"
#include "npu/abi/fault.hpp"

namespace npu::demo {

struct ExpectedFault {
  abi::FaultCode code = abi::FaultCode::kNone;
  std::uint64_t address = 0;
  bool write = false;  // to that address; only told of device addresses
};

// Submits `command` on an event of its own. kBadDevice unless it comes back as kDeviceFault, the
// fault registers name the fault, the stream and the address, the fault is latched once only, and
// the card copies as before afterwards.
Status expect_fault(Session& session, const driver::DmaCommand& command,
                    const ExpectedFault& expected);

}  // namespace npu::demo
