// SPDX-License-Identifier: Apache-2.0
// One wait for one ticket.
#pragma once

#include "driver/event/wait_loop.hpp"
#include "driver/stream/waiter.hpp"

namespace npu::driver {

class Wait final : private WaitLoop {
 public:
  Wait(Waiter& waiter, const Ticket& ticket, const WaitContext& context, Instant deadline);
  Status run(WaitPolicy policy);

 private:
  bool look() override;
  ConstByteSpan watched() const override { return waiter_.events_.watched(ticket_.event); }
  Done probe() override { return waiter_.ask_card(ticket_, record_); }
  void learn_wake_cost(Picoseconds sample) override { waiter_.learn_wake_cost(sample); }
  Status finish();
  Status timed_out();

  Waiter& waiter_;
  const Ticket& ticket_;
  const WaitContext& context_;
  abi::EventRecord record_;
  bool is_long_ = false;
};

}  // namespace npu::driver
