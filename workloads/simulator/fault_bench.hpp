// SPDX-License-Identifier: Apache-2.0
// Makes faults happen in a system: at times, or at once.
#pragma once

#include <cstddef>
#include <deque>

#include "model/system.hpp"
#include "npu/testing/fault.hpp"
#include "workloads/simulator/fault_checks.hpp"

namespace npu::workloads {

using testkit::Fault;
using testkit::FaultKind;
using testkit::kAnyVector;
using testkit::kNoVirtualFunction;
using testkit::Requester;

class FaultBench {
 public:
  explicit FaultBench(model::System& system) : system_(system) {}

  // kInvalidArgument: the system has nothing of the kind (fault_checks.hpp).
  Status check(const Fault& fault) const { return check_fault(system_.config(), fault); }
  // The simulation is at the present time; ends what has a duration later.
  void begin(const Fault& fault);
  // Ends one that began without a duration.
  void end(const Fault& fault) { set(fault, false); }
  // At `time`, which is not past.
  void schedule(const Fault& fault, Instant time);
  // Scheduled ones that have not begun, and those of interrupts, the IOMMU and of TLPs that are
  // dropped that have met nothing.
  std::size_t waiting() const;

 private:
  void begin_scheduled(std::uint64_t place);
  void end_scheduled(std::uint64_t place);
  void set(const Fault& fault, bool broken);
  void set_power(platform::Bdf bdf, bool on);
  void set_command(platform::Bdf bdf, std::uint32_t bit, bool on);
  void mask_all(platform::Bdf bdf, bool masked);
  void reset_function(platform::Bdf bdf);
  void interrupt(const Fault& fault, bool broken);
  void retrain(const Fault& fault, bool broken);
  void set_unit(const Fault& fault, bool broken);
  void lose_command(const Fault& fault, bool broken);
  void fail_completion(const Fault& fault);
  void drop(const Fault& fault);
  void set_peer_link(const Fault& fault, bool up);
  void tell(const Fault& fault, model::SimTime begin);
  unsigned function_of(const Fault& fault) const;  // of the chip
  platform::Bdf bdf_of(const Fault& fault) const;
  std::uint32_t capability(platform::Bdf bdf, std::uint8_t id);
  std::uint32_t read(platform::Bdf bdf, std::uint32_t offset, unsigned width);
  void write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value);

  model::System& system_;
  struct Begun {
    Fault fault;
    model::SimTime begin = 0;
  };
  std::deque<Begun> faults_;  // by the agenda's argument
  std::size_t waiting_ = 0;
};

}  // namespace npu::workloads
