// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/copy_lanes.hpp"

#include <algorithm>

#include "npu/abi/page_table.hpp"

namespace npu::driver {

Status CopyLanes::open() {
  reclaim();
  if (abandoned_.size() == kLanes) {
    return fail(ErrorCode::kBusy, "the copies of an earlier compaction have not ended");
  }
  while (lanes_.size() + abandoned_.size() < kLanes) {
    const auto stream = streams_.create(StreamOptions{}, abi::kVmidPhysical);
    if (!stream && lanes_.empty()) return forward_error(stream);
    if (!stream) break;
    Lane lane;
    lane.stream = *stream;
    lanes_.push_back(lane);
  }
  return {};
}

void CopyLanes::close(Picoseconds timeout) {
  const auto deadline = clock_.now() + timeout;
  reclaim();
  for (const auto& lane : lanes_) {
    if (!give_back(lane, deadline)) abandoned_.push_back(lane);
  }
  lanes_.clear();
}

void CopyLanes::reclaim() {
  const auto now = clock_.now();
  const auto ended = [&](const Lane& lane) { return give_back(lane, now); };
  abandoned_.erase(std::remove_if(abandoned_.begin(), abandoned_.end(), ended), abandoned_.end());
}

// A stream is not busy while its commands are still in the ring, and its id would be another's by
// the time the card takes them.
bool CopyLanes::give_back(const Lane& lane, Instant deadline) {
  auto& stream = *streams_.find(lane.stream);
  const auto last = QueueMark::from_raw(stream.submitted.load(std::memory_order_relaxed));
  if (!queue_.wait_consumed(last, deadline)) return false;
  if (!streams_.finish(lane.stream, deadline)) return false;
  if (!events_.destroy(stream.event)) return false;
  stream.used.store(false, std::memory_order_release);
  return true;
}

Status CopyLanes::submit(Lane& lane, const BlockMove& move, Bytes offset, Picoseconds timeout) {
  const auto size = std::min(kPiece, move.size - offset);
  auto* stream = streams_.find(lane.stream);
  CopyRequest request;
  request.stream = lane.stream;
  request.command = DmaCommand::device_to_device(DeviceAddress{move.from + offset},
                                                 DeviceAddress{move.to + offset}, size);
  request.event = stream->event;
  request.interrupt = true;
  request.privileged = true;
  const auto ticket = queue_.submit(request, timeout);
  if (!ticket) return forward_error(ticket);
  stream->note_submitted(QueueMark::behind(*ticket));
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
  const auto deadline = clock_.now() + timeout;
  for (auto& lane : lanes_) {
    if (!lane.used) continue;
    const auto* stream = streams_.find(lane.stream);
    const WaitContext context{stream->vector, stream->predictor.get()};
    const auto policy = stream->vector ? WaitPolicy::kInterrupt : WaitPolicy::kPolling;
    auto done = waiter_.wait(lane.last, context, policy, deadline);
    const bool ended = done || done.error().code == ErrorCode::kDeviceFault;
    in_flight_ = in_flight_ || !ended;
    if (status && !done) status = done;
  }
  return status;
}

}  // namespace npu::driver
