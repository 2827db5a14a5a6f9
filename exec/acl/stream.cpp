// SPDX-License-Identifier: Apache-2.0
#include "exec/acl/stream.hpp"

#include <algorithm>
#include <cstring>

namespace npu::exec::acl {
namespace {

// For room in a ring, which the card makes as work ends.
constexpr Picoseconds kRoom = 60'000'000_us;
constexpr Picoseconds kDrain = 60'000'000_us;

std::size_t index_of(Cores cores) {
  return static_cast<std::size_t>(cores);
}

}  // namespace

Stream::Stream(driver::ProcessContext& process, platform::Clock& clock, const Card& card,
               const CoreLimits& limits, unsigned priority)
    : process_(process), clock_(clock), card_(card), limits_(limits), priority_(priority) {}

Outcome Stream::open() {
  return open_lane(Cores::kVector);
}

Outcome Stream::open_lane(Cores cores) {
  auto& lane = lanes_[index_of(cores)];
  if (lane != nullptr) return {};
  driver::QueueOptions options;
  options.in_order = true;
  options.priority = priority_;
  options.core_mask = card_.mask(cores, limits_[index_of(cores)]);
  auto queue = process_.create_queue(options);
  if (!queue && queue.error().code == ErrorCode::kOutOfResources) {
    return fault(kNoStream, queue.error().message());
  }
  if (!queue) return fault(queue.error());
  lane = std::make_shared<Lane>();
  lane->queue = std::move(*queue);
  return {};
}

Outcome Stream::change_to(Cores cores) {
  if (auto there = open_lane(cores); !there) return there;
  const auto before = lane();
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
  const auto ticket = driver::submit_in_turn(process_, *before->queue, &set, 1, deadline);
  if (!ticket) return fault(ticket.error());
  before->last = *ticket;
  const auto wait = driver::entries::wait_event(*signal_, signal_value_);
  const auto behind = driver::submit_in_turn(process_, *lane()->queue, &wait, 1, deadline);
  if (!behind) return fault(behind.error());
  lane()->last = *behind;
  return {};
}

Value<driver::QueueTicket> Stream::submit(Cores cores, const abi::QueueEntry* entries,
                                          std::size_t count) {
  if (auto there = change_to(cores); !there) return forward_fault(there);
  const auto on = lane();
  const auto ticket =
      driver::submit_in_turn(process_, *on->queue, entries, count, clock_.now() + kRoom);
  if (!ticket) return fault(ticket.error());
  on->last = *ticket;
  return *ticket;
}

Outcome Stream::wait(Instant deadline, int late) {
  for (const auto& lane : lanes_) {
    if (lane == nullptr || !lane->last) continue;
    const auto kept = lane;  // a task that finds an error makes new ones
    const auto ticket = *kept->last;
    const auto done = kept->queue->wait(ticket, driver::WaitPolicy::kAdaptive, deadline);
    if (!done) return failed(done.error(), late);
  }
  land();
  return {};
}

Value<bool> Stream::is_done() {
  for (const auto& lane : lanes_) {
    if (lane == nullptr || !lane->last) continue;
    const auto done = lane->queue->is_done(*lane->last);
    if (!done) {
      auto told = failed(done.error(), kStreamTimeout);
      return forward_fault(told);
    }
    if (!*done) return false;
  }
  land();
  return true;
}

// What the card says of it, and queues for what comes next.
Outcome Stream::failed(const Error& error, int late) {
  if (error.code == ErrorCode::kTimeout) return fault(late, error.message());
  int code = code_of(error.code);
  std::string text = error.message();
  if (error.code == ErrorCode::kDeviceFault) {
    const bool on_cube = lanes_[index_of(Cores::kCube)] != nullptr &&
                         lanes_[index_of(Cores::kCube)]->queue->faulted();
    code = on_cube ? kCoreException : kVectorException;
    bool by_core = false;
    for (const auto& each : process_.take_faults()) by_core = by_core || each.core.has_value();
    if (!by_core) code = kDriver;
  }
  renew();
  return fault(code, std::move(text));
}

void Stream::renew() {
  land();
  close(true);
  static_cast<void>(open());  // or the next submission says why not
}

// Copies that have ended, whatever came after them.
void Stream::land() {
  const auto arrived = [](const Landing& landing) {
    const auto done = landing.lane->queue->is_done(landing.ticket);
    // An outcome that has been forgotten is one of long ago.
    const bool there = done ? *done : done.error().code == ErrorCode::kNotFound;
    if (there) std::memcpy(landing.to.data, landing.from.data, landing.to.size);
    return there || !done;
  };
  landings_.erase(std::remove_if(landings_.begin(), landings_.end(), arrived), landings_.end());
}

void Stream::close(bool force) {
  landings_.clear();
  for (auto& lane : lanes_) {
    if (lane == nullptr) continue;
    const Instant deadline = force ? clock_.now() : clock_.now() + kDrain;
    const auto ended = process_.destroy(*lane->queue, deadline);
    static_cast<void>(ended);
    lane.reset();
  }
  current_ = Cores::kVector;
  if (signal_) static_cast<void>(process_.signals().destroy(*signal_));
  signal_.reset();
}

Outcome Stream::limit(const CoreLimits& limits) {
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
