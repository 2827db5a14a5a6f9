// SPDX-License-Identifier: Apache-2.0
#include "exec/acl/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/acl/guard.hpp"

namespace npu::exec::acl {
namespace {

// For room in a ring, which the card makes as work ends.
constexpr Picoseconds kRoom = 60'000'000_us;
constexpr Picoseconds kDrain = 60'000'000_us;

// What a program is told of a fault of its queue.
int code_of(const std::optional<driver::QueueFault>& fault, bool on_cube) {
  if (!fault) return kDriver;
  if (fault->code == abi::FaultCode::kPoisoned) return kHbmError;
  if (!fault->core) return kDriver;
  return on_cube ? kCoreException : kVectorException;
}

// Its last entry has failed, the queue has not stopped.
bool goes_on_after(const Lane& lane, const Error& error) {
  return error.code == ErrorCode::kDeviceFault && !lane.queue->faulted();
}

}  // namespace

Stream::Stream(platform::Platform& platform, driver::ProcessContext& process, FaultBook& faults,
               const Card& card, const CoreLimits& limits, unsigned priority)
    : clock_(platform.clock()),
      process_(process),
      faults_(faults),
      card_(card),
      limits_(limits),
      priority_(priority),
      lock_(platform.tasks().make_mutex()) {}

Outcome Stream::open() {
  const Guard held(*lock_);
  return open_lane(Cores::kVector);
}

Outcome Stream::open_lane(Cores cores) {
  auto& lane = lane_of(cores);
  if (lane != nullptr) return {};
  driver::QueueOptions options;
  options.in_order = true;
  options.priority = priority_;
  options.core_mask = card_.mask(cores, limits_[static_cast<std::size_t>(cores)]);
  auto queue = process_.create_queue(options);
  if (!queue && queue.error().code == ErrorCode::kOutOfResources) {
    return fault(kNoStream, queue.error().message());
  }
  if (!queue) return fault(queue.error());
  static_cast<void>(faults_.take((*queue)->id()));  // of who had the number before
  lane = std::make_shared<Lane>();
  lane->queue = std::move(*queue);
  return {};
}

Outcome Stream::change_to(Cores cores) {
  if (auto there = open_lane(cores); !there) return there;
  const auto before = lane_of(current_);
  if (cores == current_) return {};
  current_ = cores;
  if (before == nullptr || !before->last) return {};
  if (!signal_) {
    const auto made = process_.signals().create();
    if (!made) return fault(made.error());
    signal_ = *made;
  }
  const Instant deadline = clock_.now() + kRoom;
  const auto set = driver::entries::record_event(*signal_, ++signal_value_);
  const auto ticket =
      driver::submit_in_turn(process_, *before->queue, &set, 1, deadline, options());
  if (!ticket) return fault(ticket.error());
  before->last = *ticket;
  const auto wait = driver::entries::wait_event(*signal_, signal_value_);
  const auto& now = lane_of(cores);
  const auto behind = driver::submit_in_turn(process_, *now->queue, &wait, 1, deadline, options());
  if (!behind) return fault(behind.error());
  now->last = *behind;
  return {};
}

Value<Submitted> Stream::append(Cores cores, const abi::QueueEntry* entries, std::size_t count) {
  if (closed_) return fault(kInvalidHandle, "the stream has been destroyed");
  if (auto there = change_to(cores); !there) return forward_fault(there);
  const auto on = lane_of(cores);
  const auto ticket =
      driver::submit_in_turn(process_, *on->queue, entries, count, clock_.now() + kRoom, options());
  if (!ticket) return fault(ticket.error());
  on->last = *ticket;
  return Submitted{on, *ticket};
}

Value<Submitted> Stream::submit(Cores cores, const abi::QueueEntry* entries, std::size_t count) {
  const Guard held(*lock_);
  return append(cores, entries, count);
}

Value<Submitted> Stream::follow(const abi::QueueEntry* entries, std::size_t count) {
  const Guard held(*lock_);
  return append(current_, entries, count);
}

Outcome Stream::wait(Instant deadline, int late) {
  for (std::size_t i = 0; i < kCoreKinds; ++i) {
    const auto lane = lanes_[i];  // a task that finds an error makes new ones
    if (lane == nullptr || !lane->last) continue;
    const auto done = lane->queue->wait(*lane->last, driver::WaitPolicy::kAdaptive, deadline);
    if (!done && !goes_on_after(*lane, done.error())) return failed(lane, done.error(), late);
  }
  return over();
}

Value<bool> Stream::is_done() {
  for (std::size_t i = 0; i < kCoreKinds; ++i) {
    const auto lane = lanes_[i];
    if (lane == nullptr || !lane->last) continue;
    const auto done = lane->queue->is_done(*lane->last);
    if (!done && !goes_on_after(*lane, done.error())) {
      const auto told = failed(lane, done.error(), kStreamTimeout);
      return forward_fault(told);
    }
    if (done && !*done) return false;
  }
  const auto outcome = over();
  if (!outcome) return forward_fault(outcome);
  return true;
}

// Everything has ended: the first of the errors that the program has not heard of.
Outcome Stream::over() {
  const Guard held(*lock_);
  land();
  Outcome first;
  for (const auto& lane : lanes_) {
    if (lane == nullptr) continue;
    const auto failed = lane->queue->counters().failed;
    if (std::exchange(lane->told, failed) == failed) continue;
    const auto id = lane->queue->id();
    const auto error = faults_.take(id);
    if (!first) continue;
    const auto text = error ? fmt::format("queue {}, entry {}: {}", id.value, error->index,
                                          abi::to_string(error->code))
                            : fmt::format("queue {}: an entry has failed", id.value);
    first = fault(code_of(error, lane == lane_of(Cores::kCube)), text);
  }
  return first;
}

// What the card says of it, and queues for what comes next: one thread's of several makes them.
Outcome Stream::failed(const std::shared_ptr<Lane>& lane, const Error& error, int late) {
  if (error.code == ErrorCode::kTimeout) return fault(late, error.message());
  const Guard held(*lock_);
  const bool on_cube = lane == lane_of(Cores::kCube);
  const bool known = on_cube || lane == lane_of(Cores::kVector);
  if (closed_ || !known) {
    return fault(closed_ ? kInvalidHandle : kDriver, error.message());
  }
  int code = acl::code_of(error.code);
  if (error.code == ErrorCode::kDeviceFault)
    code = code_of(faults_.take(lane->queue->id()), on_cube);
  land();
  close_lanes(clock_.now());
  static_cast<void>(open_lane(Cores::kVector));  // or the next submission says why not
  return fault(code, error.message());
}

// Copies that have ended, whatever came after them.
void Stream::land() {
  const auto arrived = [](const Landing& landing) {
    const auto done = landing.by.lane->queue->is_done(landing.by.ticket);
    // An outcome that has been forgotten is one of long ago.
    const bool there = done ? *done : done.error().code == ErrorCode::kNotFound;
    if (there) std::memcpy(landing.to.data, landing.from.data, landing.to.size);
    return there || !done;
  };
  // One may come while another is looked at.
  auto landings = std::exchange(landings_, {});
  landings.erase(std::remove_if(landings.begin(), landings.end(), arrived), landings.end());
  landings_.insert(landings_.begin(), landings.begin(), landings.end());
}

void Stream::close_lanes(Instant deadline) {
  landings_.clear();
  for (auto& place : lanes_) {
    const auto lane = std::exchange(place, nullptr);
    if (lane != nullptr) static_cast<void>(process_.destroy(*lane->queue, deadline));
  }
  current_ = Cores::kVector;
  if (signal_) static_cast<void>(process_.signals().destroy(*signal_));
  signal_.reset();
}

void Stream::close(bool force) {
  const Guard held(*lock_);
  closed_ = true;
  close_lanes(force ? clock_.now() : clock_.now() + kDrain);
}

Outcome Stream::limit(const CoreLimits& limits) {
  const Guard held(*lock_);
  limits_ = limits;
  for (std::size_t i = 0; i < kCoreKinds; ++i) {
    if (lanes_[i] == nullptr) continue;
    driver::QueueChange change;
    change.core_mask = card_.mask(static_cast<Cores>(i), limits_[i]);
    auto changed = outcome_of(process_.update(lanes_[i]->queue->id(), change));
    if (!changed) return changed;
  }
  return {};
}

}  // namespace npu::exec::acl
