// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/copy_lanes.hpp"

#include <algorithm>

#include "npu/abi/page_table.hpp"

namespace npu::driver {

Status CopyLanes::open() {
  while (lanes_.size() < kLanes) {
    const auto stream = streams_.create(StreamOptions{}, abi::kVmidPhysical);
    if (!stream && lanes_.empty()) return forward_error(stream);
    if (!stream) break;
    Lane lane;
    lane.stream = *stream;
    lanes_.push_back(lane);
  }
  return {};
}

// A stream that does not end keeps its id and its event: the card may still use them.
void CopyLanes::close(Picoseconds timeout) {
  for (const auto& lane : lanes_) {
    auto* stream = streams_.find(lane.stream);
    if (!streams_.finish(lane.stream, clock_.now() + timeout)) continue;
    stream->used.store(false, std::memory_order_release);
    static_cast<void>(events_.destroy(stream->event));
  }
  lanes_.clear();
}

Status CopyLanes::submit(Lane& lane, const BlockMove& move, Bytes offset, Picoseconds timeout) {
  const auto size = std::min(kPiece, move.size - offset);
  const auto* stream = streams_.find(lane.stream);
  DmaRequest request;
  request.stream = lane.stream;
  request.command = DmaCommand::device_to_device(DeviceAddress{move.from + offset},
                                                 DeviceAddress{move.to + offset}, size);
  request.event = stream->event;
  request.interrupt = true;
  request.privileged = true;
  const auto ticket = queue_.submit(request, timeout);
  if (!ticket) return forward_error(ticket);
  stream = streams_.find(lane.stream);
  lane.last = *ticket;
  lane.used = true;
  return {};
}

Status CopyLanes::copy(const std::vector<BlockMove>& moves, Picoseconds timeout) {
  Status status;
  for (auto& lane : lanes_) lane.used = false;
  in_flight_ = false;
  std::size_t next = 0;
  for (const auto& move : moves) {
    for (Bytes offset = 0; status && offset < move.size; offset += kPiece) {
      status = submit(lanes_[next++ % lanes_.size()], move, offset, timeout);
    }
  }
  // Commands of a lane end in order, so its last one stands for all.
  for (auto& lane : lanes_) {
    if (!lane.used) continue;
    const auto* stream = streams_.find(lane.stream);
    const WaitContext context{stream->vector, stream->predictor.get()};
    const auto policy = stream->vector ? WaitPolicy::kInterrupt : WaitPolicy::kPolling;
    auto done = waiter_.wait(lane.last, context, policy, clock_.now() + timeout);
    const bool ended = done || done.error().code == ErrorCode::kDeviceFault;
    in_flight_ = in_flight_ || !ended;
    if (status && !done) status = done;
  }
  return status;
}

}  // namespace npu::driver
