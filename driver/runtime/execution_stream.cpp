// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/execution_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "driver/queue/process_impl.hpp"
#include "driver/runtime/argument_arena.hpp"
#include "driver/runtime/launch_entry.hpp"
#include "driver/runtime/stream_capture.hpp"
#include "driver/runtime/stream_lanes.hpp"
#include "driver/runtime/stream_waits.hpp"
#include "driver/runtime/work_in_flight.hpp"
#include "driver/support/impl_of.hpp"
#include "driver/support/spin_lock.hpp"

namespace npu::driver {
namespace {

constexpr unsigned kLeastLog2Entries = 8;  // for ExecutionStream::kMostEntries
constexpr const char* kNoRecords = "a graph has no records and no waits for them";

}  // namespace

// --- The stream ------------------------------------------------------------------------------

struct ExecutionStream::Impl {
  Impl(ProcessContext& process, ArgumentPool& arguments_of_process,
       const ExecutionStreamOptions& wanted)
      : clock(impl_of(process).link.clock()),
        options(wanted),
        lock(impl_of(process).link.platform().tasks().make_mutex()),
        last_lock(impl_of(process).link.platform().tasks().make_mutex()),
        lanes(process, options, closing),
        pool(arguments_of_process),
        arguments(pool) {}

  Result<StreamMark> append(LaunchCores kind, const abi::QueueEntry* entries, std::size_t count,
                            bool record = false);
  // Work of the graph.
  Result<StreamMark> append(const std::vector<LaneWork>& work, std::vector<QueueTicket>* tickets,
                            StreamGraph& graph);
  struct Now {
    LaneSet lanes;
    std::size_t submitted = 0;
  };
  // kTimeout: a submission has waited until `deadline` for room; kAborted.
  Status look(Now& now, Instant deadline) const;
  // All of it has ended.
  Result<std::optional<LaunchFault>> ended(const Now& now);
  Result<std::optional<LaunchFault>> stopped(const LaneSet::Stopped& lane);
  Result<ArgumentArena::Place> place_for(Bytes size);
  void drop_lanes(Instant deadline);
  Status may_capture(const StreamGraph::Impl& graph) const;
  void set_last(const StreamMark& mark) {
    const MutexHolder holder(*last_lock);
    last = mark;
  }

  platform::Clock& clock;
  ExecutionStreamOptions options;
  std::unique_ptr<platform::Mutex> lock;
  std::unique_ptr<platform::Mutex> last_lock;  // never held while something is waited for
  StreamMark last;
  std::atomic<bool> closing{false};
  StreamLanes lanes;
  ArgumentPool& pool;
  ArgumentArena arguments;
  WorkInFlight in_flight;
  StreamCapture capture;
};

Result<StreamMark> ExecutionStream::Impl::append(LaunchCores kind, const abi::QueueEntry* entries,
                                                 std::size_t count, bool record) {
  auto there = lanes.append(kind, entries, count, record);
  if (!there) return forward_error(there);
  const StreamMark mark(std::move(there->lane), there->ticket);
  set_last(mark);
  return mark;
}

Result<StreamMark> ExecutionStream::Impl::append(const std::vector<LaneWork>& work,
                                                 std::vector<QueueTicket>* tickets,
                                                 StreamGraph& graph) {
  auto there = lanes.append(work, tickets);
  if (!there) return forward_error(there);
  const StreamMark mark(std::move(there->lane), there->ticket);
  set_last(mark);
  in_flight.add(mark, graph.impl_);
  graph.impl_->submitted(mark);
  return mark;
}

Status ExecutionStream::Impl::look(Now& now, Instant deadline) const {
  const TimedMutexHolder holder(*lock, deadline);
  if (!holder) return fail(ErrorCode::kTimeout, "the stream waits for room in its ring");
  if (closing) return stream_closed();
  now = {lanes.lanes(), in_flight.size()};
  return {};
}

Result<std::optional<LaunchFault>> ExecutionStream::Impl::ended(const Now& now) {
  const MutexHolder holder(*lock);
  if (closing) return stream_closed();
  in_flight.ended(now.submitted);
  return lanes.take_failed();
}

Result<ArgumentArena::Place> ExecutionStream::Impl::place_for(Bytes size) {
  const Instant deadline = clock.now() + kRoom;
  for (;;) {
    const auto place = arguments.take(size);
    if (!place) return forward_error(place);
    if (*place) return **place;
    if (closing) return stream_closed();
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kQueueFull, "no room for arguments: no launch has ended for a minute");
    }
    const auto ended = arguments.oldest().wait(std::min(deadline, clock.now() + kLook));
    // A launch that has failed reads nothing any more, either.
    if (ended || ended.error().code != ErrorCode::kTimeout) arguments.drop_oldest();
  }
}

// What comes next gets new queues: one task of several makes them.
Result<std::optional<LaunchFault>> ExecutionStream::Impl::stopped(const LaneSet::Stopped& at) {
  const MutexHolder holder(*lock);
  if (closing) return stream_closed();
  if (!lanes.lanes().has(at.lane)) return fail(at.error.code, at.error.context);
  auto fault = lanes.fault_of(*at.lane, at.error);
  drop_lanes(clock.now());
  static_cast<void>(lanes.open(LaunchCores::kVector));  // or the next submission says why not
  if (at.error.code != ErrorCode::kDeviceFault) return fail(at.error.code, at.error.context);
  return std::optional<LaunchFault>(std::move(fault));
}

void ExecutionStream::Impl::drop_lanes(Instant deadline) {
  lanes.drop(deadline);
  set_last({});
  arguments.release();
  in_flight.clear();
}

Status ExecutionStream::Impl::may_capture(const StreamGraph::Impl& graph) const {
  if (closing) return stream_closed();
  if (capture.is_on()) return fail(ErrorCode::kInvalidArgument, "the stream captures already");
  if (graph.is_captured) {
    return fail(ErrorCode::kInvalidArgument, "another stream captures the graph");
  }
  if (&graph.pool != &pool) {
    return fail(ErrorCode::kInvalidArgument, "the graph is another process's");
  }
  return {};
}

// --- What its user may call ------------------------------------------------------------------

ExecutionStream::ExecutionStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ExecutionStream::~ExecutionStream() {
  close(impl_->clock.now());
}

Result<std::unique_ptr<ExecutionStream>> ExecutionStream::open(
    ProcessContext& process, ArgumentPool& arguments, const ExecutionStreamOptions& options) {
  if (options.log2_entries < kLeastLog2Entries) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("log2_entries {}: at least {}",
                                                         options.log2_entries, kLeastLog2Entries));
  }
  std::unique_ptr<ExecutionStream> stream(
      new ExecutionStream(std::make_unique<Impl>(process, arguments, options)));
  if (auto there = stream->impl_->lanes.open(LaunchCores::kVector); !there) {
    return forward_error(there);
  }
  return stream;
}

Status ExecutionStream::prepare(LaunchCores cores) {
  const MutexHolder holder(*impl_->lock);
  return impl_->closing ? Status(stream_closed()) : impl_->lanes.open(cores);
}

Result<StreamMark> ExecutionStream::submit(const abi::QueueEntry* entries, std::size_t count,
                                           std::shared_ptr<const void> keep) {
  if (count == 0 || count > kMostEntries) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} entries: a submission has 1 to {}", count, kMostEntries));
  }
  const MutexHolder holder(*impl_->lock);
  if (impl_->capture.is_on()) {
    if (auto added = impl_->capture.add(entries, count, std::move(keep)); !added) {
      return forward_error(added);
    }
    return StreamMark{};
  }
  auto mark = impl_->append(impl_->lanes.current(), entries, count);
  if (mark) impl_->in_flight.add(*mark, std::move(keep));
  return mark;
}

Result<StreamMark> ExecutionStream::launch(const KernelLaunch& launch) {
  if (!is_sound(launch)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a launch of {} blocks with {} bytes of arguments, {} present",
                            launch.blocks, launch.bytes, launch.present.bytes));
  }
  const MutexHolder holder(*impl_->lock);
  if (impl_->capture.is_on()) {
    if (auto added = impl_->capture.add(launch); !added) return forward_error(added);
    return StreamMark{};
  }
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
  entries[count++] = entry_of(launch, place.device);
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
  if (impl_->closing) return stream_closed();
  if (impl_->capture.is_on()) return fail(ErrorCode::kUnsupported, kNoRecords);
  const auto time = entries::timestamp(at);
  const auto mark = impl_->append(impl_->lanes.current(), &time, 1, true);
  if (!mark) return forward_error(mark);
  StreamRecord record;
  record.mark_ = *mark;
  record.signal_ = impl_->lanes.signal();
  record.value_ = impl_->lanes.recorded();
  impl_->in_flight.add(*mark, std::move(keep));
  return record;
}

Status ExecutionStream::wait_for(const StreamRecord& record, Picoseconds timeout) {
  if (record.signal_ == nullptr) return fail(ErrorCode::kInvalidArgument, "an empty record");
  const MutexHolder holder(*impl_->lock);
  if (impl_->capture.is_on()) return fail(ErrorCode::kUnsupported, kNoRecords);
  const auto wait = entries::wait_event(record.signal_->id(), record.value_,
                                        abi::WaitCondition::kReached, timeout);
  const auto mark = impl_->append(impl_->lanes.current(), &wait, 1);
  if (mark) impl_->in_flight.add(*mark, record.signal_);
  return mark ? Status{} : Status(forward_error(mark));
}

Status ExecutionStream::begin_capture(StreamGraph& graph) {
  const MutexHolder holder(*impl_->lock);
  if (auto may = impl_->may_capture(*graph.impl_); !may) return may;
  impl_->capture.begin(graph.impl_);
  return {};
}

Status ExecutionStream::begin_update(StreamGraph& graph, std::size_t first) {
  for (;;) {
    StreamMark last;
    {
      const MutexHolder holder(*impl_->lock);
      auto& what = *graph.impl_;
      if (auto may = impl_->may_capture(what); !may) return may;
      if (auto there = what.has(first); !there) return there;
      last = what.last_run;
      if (last.is_done()) {
        impl_->capture.begin(graph.impl_, first);
        return {};
      }
    }
    static_cast<void>(last.wait(impl_->clock.now() + kLook));
  }
}

Status ExecutionStream::end_capture() {
  const MutexHolder holder(*impl_->lock);
  return impl_->capture.end();
}

Result<StreamMark> ExecutionStream::update(StreamGraph& graph, std::size_t number,
                                           const KernelLaunch& launch) {
  const MutexHolder holder(*impl_->lock);
  auto& what = *graph.impl_;
  if (auto may = impl_->may_capture(what); !may) return forward_error(may);
  if (auto there = what.has(number); !there) return forward_error(there);
  if (!what.last_run.is_done() && (what.run_copies || !what.has_room_for(number, launch))) {
    return fail(ErrorCode::kBusy, "a run in flight has these arguments, or the launch's old form");
  }
  const auto to = what.replace(number, launch, false);
  if (!to) return forward_error(to);
  if (launch.bytes == 0) return StreamMark{};
  const auto place = impl_->place_for(launch.bytes);
  if (!place) return forward_error(place);
  const auto copy = entries::copy_to_device(place->bus, *to, launch.bytes);
  auto mark = Result<StreamMark>();
  if (auto written = launch.write(place->host, *to); !written) {
    mark = forward_error(written);
  } else {
    mark = impl_->append(impl_->lanes.current(), &copy, 1);
  }
  if (!mark) {
    impl_->arguments.give_back();
    return mark;
  }
  impl_->arguments.used(*mark);
  impl_->in_flight.add(*mark, graph.impl_);
  return mark;
}

Result<StreamMark> ExecutionStream::upload(StreamGraph& graph) {
  const MutexHolder holder(*impl_->lock);
  auto& what = *graph.impl_;
  if (auto may = impl_->may_capture(what); !may) return forward_error(may);
  const auto copies = what.copies();
  return copies.empty() ? StreamMark{} : impl_->append(copies, nullptr, graph);
}

Result<StreamMark> ExecutionStream::run(StreamGraph& graph, std::vector<QueueTicket>* entries) {
  const MutexHolder holder(*impl_->lock);
  auto& what = *graph.impl_;
  if (auto may = impl_->may_capture(what); !may) return forward_error(may);
  if (what.captured.empty()) return fail(ErrorCode::kInvalidArgument, "the graph is empty");
  auto work = what.copies();
  const auto copies = work.size();
  work.insert(work.end(), what.captured.begin(), what.captured.end());
  auto mark = impl_->append(work, entries, graph);
  if (mark && entries != nullptr) {
    entries->erase(entries->begin(), entries->begin() + static_cast<std::ptrdiff_t>(copies));
  }
  return mark;
}

Result<std::optional<LaunchFault>> ExecutionStream::synchronize(Instant deadline) {
  Impl::Now now;
  if (auto there = impl_->look(now, deadline); !there) return forward_error(there);
  const auto stopped = now.lanes.wait(impl_->clock, deadline);
  if (!stopped) return forward_error(stopped);
  return stopped->lane == nullptr ? impl_->ended(now) : impl_->stopped(*stopped);
}

Status ExecutionStream::wait(Instant deadline) {
  auto ended = synchronize(deadline);
  if (!ended) return forward_error(ended);
  return *ended ? Status(fail(ErrorCode::kDeviceFault, std::move((*ended)->text))) : Status{};
}

Result<ExecutionStream::State> ExecutionStream::query() {
  Impl::Now now;
  const auto looked = impl_->look(now, impl_->clock.now());
  // A submission holds the lock, so there is work.
  if (!looked && looked.error().code == ErrorCode::kTimeout) return State{};
  if (!looked) return forward_error(looked);
  bool all = true;
  const auto stopped = now.lanes.stopped(all);
  if (stopped.lane == nullptr && !all) return State{};
  auto fault = stopped.lane == nullptr ? impl_->ended(now) : impl_->stopped(stopped);
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

Status ExecutionStream::set_cores(LaunchCores kind, const CoreMask& cores) {
  const MutexHolder holder(*impl_->lock);
  if (impl_->closing) return stream_closed();
  impl_->options.cores[static_cast<std::size_t>(kind)] = cores;
  return impl_->lanes.apply_cores(kind);
}

}  // namespace npu::driver
