// SPDX-License-Identifier: Apache-2.0
#include "model/l2/line_fills.hpp"

#include <algorithm>

namespace npu::model {

std::uint32_t LineFills::read(const LineStore::Block& block, Line line, SimTime lag) {
  const bool longer =
      run_ != kNone && fills_[run_].transfer.first + fills_[run_].transfer.lines == line;
  if (!longer) {
    send();
    run_ = fills_.take();
    fills_[run_] = Fill{};
    fills_[run_].transfer.first = line;
    fills_[run_].block = block;
    join(run_);
  }
  Fill& fill = fills_[run_];
  ++fill.transfer.lines;
  fill.lag = std::max(fill.lag, lag);
  return run_;
}

void LineFills::join(std::uint32_t fill) {
  if (joined_ == fill) return;
  joined_ = fill;
  const std::uint32_t waiter = waiters_.take();
  waiters_[waiter] = {requester_.number, kNone};
  Fill& joined = fills_[fill];
  (joined.last == kNone ? joined.waiters : waiters_[joined.last].next) = waiter;
  joined.last = waiter;
  ++joins_;
}

void LineFills::send() {
  if (run_ == kNone) return;
  HbmTransfer& transfer = fills_[run_].transfer;
  transfer.sent = sim_now();
  transfer.cause = requester_.cause;
  port_.send(requester_.client, tlm::TLM_READ_COMMAND, transfer, run_);
  run_ = kNone;
}

}  // namespace npu::model
