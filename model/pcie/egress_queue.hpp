// SPDX-License-Identifier: Apache-2.0
// The endpoint's way out to the link for what keeps its order: posted requests leave `egress` after
// they were handed over; completions do at once, but not before what was posted before them.
#pragma once

#include "model/core/simulation.hpp"
#include "model/pcie/function_set.hpp"
#include "model/pcie/port.hpp"

namespace npu::model {

class EgressQueue {
 public:
  using Payload = tlm::tlm_generic_payload;

  // What is due while all functions are in hot reset is lost.
  EgressQueue(Simulation& simulation, const FunctionSet& functions, PciePort& port,
              Picoseconds egress);

  // Returns when the last byte will have left, as far as is known now. A function that must not
  // send PASIDs loses its own.
  SimTime post(Payload& payload);
  // PCIe 2.4.1: a completion does not pass a posted request.
  void complete(Payload& payload);

 private:
  void send_posted(std::uint64_t payload);
  void send_completion(std::uint64_t payload);

  Simulation& simulation_;
  const FunctionSet& functions_;
  PciePort& port_;
  const SimTime egress_;
  SimTime posted_ready_ = 0;  // when the last write posted reaches the transmitter
  SimTime posted_sent_ = 0;   // when what was posted so far has left
};

}  // namespace npu::model
