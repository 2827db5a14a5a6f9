// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/execution_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "driver/device/device_impl.hpp"
#include "driver/queue/fault_text.hpp"
#include "driver/queue/process_impl.hpp"
#include "driver/runtime/argument_arena.hpp"
#include "driver/runtime/stream_lane.hpp"
#include "driver/runtime/stream_signal.hpp"
#include "driver/runtime/work_in_flight.hpp"
#include "driver/support/impl_of.hpp"
#include "driver/support/spin_lock.hpp"
#include "npu/driver/time_slices.hpp"

namespace npu::driver {
namespace {

// For room in a ring or for arguments, which the card makes as work ends. In between it is seen
// whether the stream is being closed.
constexpr Picoseconds kRoom = 60'000'000_us;
constexpr Picoseconds kLook = 1_ms;

std::string text_of(const QueueFault& fault) {
  const auto place = whole_place_of(fault);
  return fmt::format("entry {}: {}{}{}", fault.index, abi::to_string(fault.code),
                     place.empty() ? "" : ", ", place);
}

tl::unexpected<Error> closed() {
  return fail(ErrorCode::kAborted, "the stream is closed");
}

}  // namespace

// --- Marks -----------------------------------------------------------------------------------

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

Status StreamMark::wait(Instant deadline) const {
  if (lane_ == nullptr) return {};
  auto done = lane_->queue().wait(ticket_, WaitPolicy::kAdaptive, deadline);
  if (!done && done.error().code == ErrorCode::kNotFound) return {};  // long ago
  return done;
}

// --- The stream ------------------------------------------------------------------------------

struct ExecutionStream::Impl {
  using Lane = std::shared_ptr<StreamLane>;

  Impl(ProcessContext& of, ArgumentPool& pool, const ExecutionStreamOptions& wanted)
      : process(of),
        clock(impl_of(of).device.platform.clock()),
        options(wanted),
        lock(impl_of(of).device.platform.tasks().make_mutex()),
        last_lock(impl_of(of).device.platform.tasks().make_mutex()),
        arguments(pool) {}

  Lane& lane_of(LaunchCores kind) { return lanes[static_cast<std::size_t>(kind)]; }

  Status open_lane(LaunchCores kind);
  Status change_to(LaunchCores kind);
  Result<StreamMark> append(LaunchCores kind, const abi::QueueEntry* entries, std::size_t count);
  // What there is to wait for: a task that finds an error makes new lanes meanwhile.
  struct Now {
    std::array<Lane, kLaunchCores> lanes;
    std::size_t submitted = 0;
  };
  // kTimeout: a submission has waited until `deadline` for room; kAborted.
  Status look(Now& now, Instant deadline) const {
    const TimedMutexHolder holder(*lock, deadline);
    if (!holder) return fail(ErrorCode::kTimeout, "the stream waits for room in its ring");
    if (closing) return closed();
    now = {lanes, in_flight.size()};
    return {};
  }
  // All of it has ended.
  Result<std::optional<LaunchFault>> ended(const Now& now) {
    const MutexHolder holder(*lock);
    if (closing) return closed();
    in_flight.ended(now.submitted);
    return take_failed();
  }
  Result<QueueTicket> put(StreamLane& lane, const abi::QueueEntry* entries, std::size_t count);
  Result<ArgumentArena::Place> place_for(Bytes size);
  Result<LaunchFault> stopped(const Lane& lane, const Error& error);
  std::optional<LaunchFault> take_failed();
  void drop_lanes(Instant deadline);
  void set_last(const StreamMark& mark) {
    const MutexHolder holder(*last_lock);
    last = mark;
  }
  Status make_signal() {
    if (signal != nullptr) return {};
    auto made = StreamSignal::make(process.signals());
    if (!made) return forward_error(made);
    signal = std::move(*made);
    return {};
  }

  ProcessContext& process;
  platform::Clock& clock;
  ExecutionStreamOptions options;
  std::unique_ptr<platform::Mutex> lock;
  std::unique_ptr<platform::Mutex> last_lock;  // never held while something is waited for
  StreamMark last;
  std::atomic<bool> closing{false};
  std::array<Lane, kLaunchCores> lanes;
  LaunchCores current = LaunchCores::kVector;
  std::shared_ptr<StreamSignal> signal;
  ArgumentArena arguments;
  WorkInFlight in_flight;
};

Status ExecutionStream::Impl::open_lane(LaunchCores kind) {
  auto& lane = lane_of(kind);
  if (lane != nullptr) return {};
  QueueOptions wanted;
  wanted.in_order = true;
  wanted.priority = options.priority;
  wanted.core_mask = options.cores[static_cast<std::size_t>(kind)];
  auto queue = process.create_queue(wanted);
  if (!queue) return forward_error(queue);
  static_cast<void>(process.take_faults((*queue)->id()));  // of who had the number before
  lane = std::make_shared<StreamLane>(std::move(*queue));
  return {};
}

// One doorbell for all of them. A full ring is looked at again and again.
Result<QueueTicket> ExecutionStream::Impl::put(StreamLane& lane, const abi::QueueEntry* entries,
                                               std::size_t count) {
  QueueEntryOptions how;
  how.continue_on_error = options.on_error == StreamErrorMode::kContinue;
  const Instant deadline = clock.now() + kRoom;
  const bool in_time_slices =
      impl_of(process).queues.time_slices() != nullptr;  // which it has a place to wait for
  for (;;) {
    if (closing) return closed();
    const Instant look = in_time_slices ? deadline : std::min(deadline, clock.now() + kLook);
    auto ticket = submit_in_time_slice(process, lane.queue(), entries, count, look, how);
    const bool full = !ticket && ticket.error().code == ErrorCode::kQueueFull;
    if (!full || clock.now() >= deadline) {
      if (ticket) lane.submitted(*ticket);
      return ticket;
    }
  }
}

Status ExecutionStream::Impl::change_to(LaunchCores kind) {
  if (auto there = open_lane(kind); !there) return there;
  const auto before = lane_of(current);
  if (kind == current) return {};
  current = kind;
  if (before == nullptr || !before->last()) return {};
  if (auto there = make_signal(); !there) return there;
  const auto value = signal->next();
  const auto set = entries::record_event(signal->id(), value);
  if (auto there = put(*before, &set, 1); !there) return forward_error(there);
  const auto wait = entries::wait_event(signal->id(), value);
  const auto behind = put(*lane_of(kind), &wait, 1);
  return behind ? Status{} : Status(forward_error(behind));
}

Result<StreamMark> ExecutionStream::Impl::append(LaunchCores kind, const abi::QueueEntry* entries,
                                                 std::size_t count) {
  if (closing) return closed();
  if (auto there = change_to(kind); !there) return forward_error(there);
  const auto lane = lane_of(kind);
  const auto ticket = put(*lane, entries, count);
  if (!ticket) return forward_error(ticket);
  const StreamMark mark(lane, *ticket);
  set_last(mark);
  return mark;
}

Result<ArgumentArena::Place> ExecutionStream::Impl::place_for(Bytes size) {
  const Instant deadline = clock.now() + kRoom;
  for (;;) {
    const auto place = arguments.take(size);
    if (!place) return forward_error(place);
    if (*place) return **place;
    if (closing) return closed();
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kQueueFull, "no room for arguments: no launch has ended for a minute");
    }
    const auto ended = arguments.oldest().wait(std::min(deadline, clock.now() + kLook));
    // A launch that has failed reads nothing any more, either.
    if (ended || ended.error().code != ErrorCode::kTimeout) arguments.drop_oldest();
  }
}

// What the card says of a queue that has stopped. What comes next gets new queues: one task of
// several makes them.
Result<LaunchFault> ExecutionStream::Impl::stopped(const Lane& lane, const Error& error) {
  const MutexHolder holder(*lock);
  if (closing) return closed();
  const bool on_cube = lane == lane_of(LaunchCores::kCube);
  if (!on_cube && lane != lane_of(LaunchCores::kVector)) return fail(error.code, error.context);
  LaunchFault fault;
  fault.cores = on_cube ? LaunchCores::kCube : LaunchCores::kVector;
  fault.text = error.message();
  const auto said = process.take_faults(lane->queue().id());
  if (!said.empty()) fault.fault = said.front();
  if (!said.empty()) fault.text = text_of(said.front());
  drop_lanes(clock.now());
  static_cast<void>(open_lane(LaunchCores::kVector));  // or the next submission says why not
  if (error.code != ErrorCode::kDeviceFault) return fail(error.code, error.context);
  return fault;
}

std::optional<LaunchFault> ExecutionStream::Impl::take_failed() {
  std::optional<LaunchFault> first;
  for (std::size_t i = 0; i < kLaunchCores; ++i) {
    const auto lane = lanes[i];
    if (lane == nullptr || !lane->take_failed()) continue;
    const auto id = lane->queue().id();
    const auto said = process.take_faults(id);
    if (first) continue;
    first.emplace();
    first->cores = static_cast<LaunchCores>(i);
    if (!said.empty()) first->fault = said.front();
    first->text = said.empty() ? fmt::format("queue {}: an entry has failed", id.value)
                               : text_of(said.front());
  }
  return first;
}

// Nothing of them runs any more; who waits for what they would have recorded goes on.
void ExecutionStream::Impl::drop_lanes(Instant deadline) {
  for (auto& place : lanes) {
    const auto lane = std::exchange(place, nullptr);
    if (lane != nullptr) static_cast<void>(process.destroy(lane->queue(), deadline));
  }
  current = LaunchCores::kVector;
  set_last({});
  if (signal != nullptr) signal->make_all();
  arguments.release();
  in_flight.clear();
}

// --- What its user may call ------------------------------------------------------------------

ExecutionStream::ExecutionStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ExecutionStream::~ExecutionStream() {
  close(impl_->clock.now());
}

Result<std::unique_ptr<ExecutionStream>> ExecutionStream::open(
    ProcessContext& process, ArgumentPool& arguments, const ExecutionStreamOptions& options) {
  std::unique_ptr<ExecutionStream> stream(
      new ExecutionStream(std::make_unique<Impl>(process, arguments, options)));
  if (auto there = stream->impl_->open_lane(LaunchCores::kVector); !there) {
    return forward_error(there);
  }
  return stream;
}

Result<StreamMark> ExecutionStream::submit(const abi::QueueEntry* entries, std::size_t count,
                                           std::shared_ptr<const void> keep) {
  const MutexHolder holder(*impl_->lock);
  auto mark = impl_->append(impl_->current, entries, count);
  if (mark) impl_->in_flight.add(*mark, std::move(keep));
  return mark;
}

Result<StreamMark> ExecutionStream::launch(const KernelLaunch& launch) {
  if (launch.module == nullptr || launch.blocks == 0 || launch.bytes > abi::kMaxArgumentBytes) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a launch of {} blocks with {} bytes of arguments", launch.blocks,
                            launch.bytes));
  }
  const MutexHolder holder(*impl_->lock);
  abi::QueueEntry entries[2];
  std::size_t count = 0;
  ArgumentArena::Place place;
  if (launch.bytes != 0) {
    const auto taken = impl_->place_for(launch.bytes);
    if (!taken) return forward_error(taken);
    place = *taken;
    if (auto written = launch.write(place.host, place.device); !written) {
      impl_->arguments.give_back();
      return forward_error(written);
    }
    entries[count++] = entries::copy_to_device(place.bus, place.device, launch.bytes);
  }
  entries[count++] =
      entries::launch_image(abi::QueueOpcode::kLaunchAiCore, launch.module->image(), launch.blocks,
                            place.device, launch.bytes, launch.most_cores);
  auto mark = impl_->append(launch.cores, entries, count);
  if (launch.bytes != 0 && !mark) impl_->arguments.give_back();
  if (!mark) return mark;
  if (launch.bytes != 0) impl_->arguments.used(*mark);
  impl_->in_flight.add(*mark, launch.module);
  return mark;
}

Result<StreamRecord> ExecutionStream::record(platform::BusAddress at,
                                             std::shared_ptr<const void> keep) {
  const MutexHolder holder(*impl_->lock);
  if (impl_->closing) return closed();
  if (auto there = impl_->make_signal(); !there) return forward_error(there);
  StreamRecord record;
  record.signal_ = impl_->signal;
  record.value_ = impl_->signal->next();
  const abi::QueueEntry entries[] = {entries::timestamp(at),
                                     entries::record_event(record.signal_->id(), record.value_)};
  const auto mark = impl_->append(impl_->current, entries, 2);
  if (!mark) return forward_error(mark);
  record.mark_ = *mark;
  impl_->in_flight.add(*mark, std::move(keep));
  return record;
}

Status ExecutionStream::wait_for(const StreamRecord& record) {
  const MutexHolder holder(*impl_->lock);
  const auto wait = entries::wait_event(record.signal_->id(), record.value_);
  const auto mark = impl_->append(impl_->current, &wait, 1);
  if (!mark) return forward_error(mark);
  impl_->in_flight.add(*mark, record.signal_);
  return {};
}

Result<std::optional<LaunchFault>> ExecutionStream::synchronize(Instant deadline) {
  Impl::Now now;
  if (auto there = impl_->look(now, deadline); !there) return forward_error(there);
  for (const auto& lane : now.lanes) {
    if (lane == nullptr) continue;
    const auto done = lane->wait(deadline);
    if (done) continue;
    if (done.error().code == ErrorCode::kTimeout) return forward_error(done);
    auto fault = impl_->stopped(lane, done.error());
    if (!fault) return forward_error(fault);
    return std::optional<LaunchFault>(std::move(*fault));
  }
  return impl_->ended(now);
}

Result<ExecutionStream::State> ExecutionStream::query() {
  Impl::Now now;
  const auto looked = impl_->look(now, impl_->clock.now());
  // Who submits has the lock, and there is something to be done.
  if (!looked && looked.error().code == ErrorCode::kTimeout) return State{};
  if (!looked) return forward_error(looked);
  for (const auto& lane : now.lanes) {
    if (lane == nullptr) continue;
    const auto done = lane->is_done();
    if (done && !*done) return State{};
    if (done) continue;
    auto fault = impl_->stopped(lane, done.error());
    if (!fault) return forward_error(fault);
    return State{true, std::move(*fault)};
  }
  auto fault = impl_->ended(now);
  if (!fault) return forward_error(fault);
  return State{true, std::move(*fault)};
}

StreamMark ExecutionStream::last() const {
  const MutexHolder holder(*impl_->last_lock);
  return impl_->last;
}

void ExecutionStream::close(Instant deadline) {
  impl_->closing = true;
  const MutexHolder holder(*impl_->lock);
  impl_->drop_lanes(deadline);
}

void ExecutionStream::set_error_mode(StreamErrorMode mode) {
  const MutexHolder holder(*impl_->lock);
  impl_->options.on_error = mode;
}

}  // namespace npu::driver
