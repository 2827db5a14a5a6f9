// SPDX-License-Identifier: Apache-2.0
// One channel as the source of a replay sees it: when it accepts a burst and when it responds.
// The rules by which the reference simulators' front ends differ are here and nowhere else.
#pragma once

#include <memory>
#include <vector>

#include "model/hbm/address_map.hpp"
#include "model/hbm/command.hpp"
#include "workloads/replay/replay_config.hpp"

namespace npu::replay {

struct Response {
  Clock at;
  std::uint32_t tag;
};

class ReplayController {
 public:
  virtual ~ReplayController() = default;
  // Hands over a burst that the source has at clock `from`; at most one per clock. Returns the
  // clock of acceptance.
  virtual Clock enter(const model::hbm::Location& where, bool write, std::uint32_t tag,
                      Clock from) = 0;
  // Decides everything up to and including `until`.
  virtual void advance(Clock until) = 0;
  // The clock of the next decision and the earliest one of a response that is not in responses()
  // yet; kNever when nothing waits.
  virtual Clock next_decision() const = 0;
  virtual Clock earliest_response() = 0;
  virtual void watch(model::hbm::CommandObserver* observer) = 0;
  // Clocks from a response until the source can act on it.
  virtual Clock notice() const { return 0; }

  // In the order in which the bursts were served; the owner clears it.
  std::vector<Response>& responses() { return responses_; }

 protected:
  std::vector<Response> responses_;
};

// By policy:
//  - split queues (Ramulator 2.1): accepted when the queue takes it; reads respond with their data,
//    writes when WR is issued.
//  - shared queue (DRAMSys): a port holds one burst in front of the queue, and acceptance is by the
//    port; responses come in the order of service, one per clock, a write's with the end of its
//    data.
//  - bank queues (DRAMsim3): accepted by the transaction queue; writes are posted, a clock after
//    acceptance. The source sees a response in the clock after it.
// Not for bank queues: tables with two pseudo channels or stack ids, or an ACT of several clocks.
std::unique_ptr<ReplayController> make_controller(const ReplayConfig& config);
bool can_replay(const ReplayConfig& config);

}  // namespace npu::replay
