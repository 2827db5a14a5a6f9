// SPDX-License-Identifier: Apache-2.0
// Faults of the cards of a simulated machine, as a workload or the command line asks for them.
#pragma once

#include <cstddef>

#include "npu/base/result.hpp"
#include "npu/testing/fault.hpp"

namespace npu::workloads {

class FaultInjector {
 public:
  virtual ~FaultInjector() = default;
  // kInvalidArgument: the machine has no such card, function, vector or link; the time is past; or
  // the injection waits for an access of the host (testkit::at_access), which only tests may.
  virtual Status inject(const testkit::Fault& fault, const testkit::When& when) = 0;
  // Ends a fault that began without a duration. Errors as of inject().
  virtual Status end(const testkit::Fault& fault) = 0;
  // Faults that have not begun, and those of interrupts, the IOMMU and dropped TLPs that have met
  // nothing.
  virtual std::size_t pending() const = 0;
};

}  // namespace npu::workloads
