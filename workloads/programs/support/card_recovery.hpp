// SPDX-License-Identifier: Apache-2.0
// What a program does when copies of a card fail: it resets the queue, and if that does not help,
// it opens the card again until that works.
#pragma once

#include <optional>
#include <utility>

#include "workloads/framework/context.hpp"

namespace npu::workloads {

class CardRecovery {
 public:
  explicit CardRecovery(Context& context) : context_(context) {}

  bool told() const { return told_; }           // there was an error
  Instant told_at() const { return told_at_; }  // the first one
  bool reopened() const { return reopened_; }   // a reset of the queue did not do

  // After the first error resets the queue of `session`; after another one ends the session, which
  // the caller opens again. Session::reset() returns a Status.
  // kTimeout: the card cannot be used for 2 s.
  template <class Session>
  Status after_error(std::optional<Session>& session) {
    const Instant now = context_.platform.clock().now();
    const bool is_first = !std::exchange(told_, true);
    if (is_first) told_at_ = now;
    if (is_first && session && session->reset()) return {};
    reopened_ = true;
    session.reset();
    if (context_.platform.clock().now() - told_at_ > kGivenUp) {
      return fail(ErrorCode::kTimeout, "the card cannot be used 2 s after the first error");
    }
    context_.platform.clock().sleep_until(context_.platform.clock().now() + kRetry);
    return {};
  }

 private:
  static constexpr Picoseconds kRetry = 1_ms;   // between attempts to open the card
  static constexpr Picoseconds kGivenUp = 2_s;  // of recovery

  Context& context_;
  bool told_ = false;
  Instant told_at_;
  bool reopened_ = false;
};

}  // namespace npu::workloads
