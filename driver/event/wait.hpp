// SPDX-License-Identifier: Apache-2.0
// One wait for one ticket.
#pragma once

#include "driver/event/waiter.hpp"

namespace npu::driver {

class Wait {
 public:
  Wait(Waiter& waiter, const Ticket& ticket, const WaitContext& context, Picoseconds deadline);
  Status run(WaitPolicy policy);

 private:
  using Done = Result<bool>;  // false: the limit passed

  Done adaptive();
  Done spin(Picoseconds limit);
  Done block(Picoseconds limit);
  Done ask_card();
  bool look();
  Status finish();
  Status timed_out();
  Picoseconds now() { return waiter_.link_.clock().now(); }

  Waiter& waiter_;
  const Ticket& ticket_;
  const WaitContext& context_;
  const Picoseconds deadline_;
  abi::EventRecord record_;
  Picoseconds probe_interval_;
  Picoseconds probe_at_;
  bool woken_by_interrupt_ = false;
  bool found_by_probe_ = false;
  bool is_long_ = false;
};

}  // namespace npu::driver
