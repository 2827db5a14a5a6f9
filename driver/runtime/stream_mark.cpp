// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/stream_lane.hpp"
#include "npu/driver/execution_stream.hpp"

namespace npu::driver {

bool StreamMark::is_done() const {
  const auto done = query();
  return !done || *done;
}

Result<bool> StreamMark::query() const {
  if (lane_ == nullptr) return true;
  auto done = lane_->queue().is_done(ticket_);
  if (!done && done.error().code == ErrorCode::kNotFound) return true;  // long ago
  return done;
}

Status StreamMark::wait(Instant deadline, std::optional<WaitPolicy> policy) const {
  if (lane_ == nullptr) return {};
  auto done = lane_->wait_for(ticket_, deadline, policy);
  if (!done && done.error().code == ErrorCode::kNotFound) return {};  // long ago
  return done;
}

}  // namespace npu::driver
