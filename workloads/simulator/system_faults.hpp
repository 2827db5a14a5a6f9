// SPDX-License-Identifier: Apache-2.0
// The faults of a simulated machine, as a host task of it asks for them.
#pragma once

#include "workloads/framework/fault_injector.hpp"
#include "workloads/simulator/fault_bench.hpp"

namespace npu::workloads {

class SystemFaults : public FaultInjector {
 public:
  explicit SystemFaults(model::System& system) : system_(system), bench_(system) {}

  // The first errors of inject().
  Status check(const testkit::Fault& fault) const { return bench_.check(fault); }
  Status inject(const testkit::Fault& fault, const testkit::When& when) override;
  // Those of the configuration, before the first run: it has no errors.
  void schedule_configured();
  Status end(const testkit::Fault& fault) override;
  std::size_t pending() const override { return bench_.waiting(); }

 private:
  model::System& system_;
  FaultBench bench_;
};

}  // namespace npu::workloads
