// SPDX-License-Identifier: Apache-2.0
// A list has a queue for each kind of cores that its launches need. Where the kind changes, the
// queue that was first records a signal in device memory for which the next one waits; a gap has
// two. Signals count runs, so that a run finds nothing of the one before it.
#include "npu/driver/launch_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "driver/queue/process_impl.hpp"
#include "driver/runtime/argument_chunks.hpp"
#include "driver/support/impl_of.hpp"
#include "npu/base/checked.hpp"
#include "npu/driver/time_slices.hpp"

namespace npu::driver {
namespace {

constexpr Bytes kSignalBytes = 64;  // a line each: a record wakes nobody else
constexpr Picoseconds kLookAround = 1_ms;

tl::unexpected<Error> invalid(const char* what) {
  return fail(ErrorCode::kInvalidArgument, what);
}

abi::QueueEntry wait_for_signal(DeviceAddress at, std::uint64_t value) {
  return entries::wait_memory(at, value, {});  // as long as it takes: wait() has a deadline
}

struct RecordedLaunch {
  KernelLaunch launch;
  ArgumentChunks::Place arguments;
  std::size_t entry = 0;  // of its queue's
  std::size_t gap = 0;    // gaps before it, so far
  bool changed = false;   // since the arguments were copied

  abi::QueueEntry make() const {
    return entries::launch_image(abi::QueueOpcode::kLaunchAiCore, launch.module->image(),
                                 launch.blocks, arguments.device, launch.bytes, launch.most_cores,
                                 launch.cores == LaunchCores::kMixed);
  }
};

// The entries of a queue, in their order.
struct RecordedLane {
  struct Signal {
    std::size_t entry;
    DeviceAddress at;
    bool waits;
  };
  std::unique_ptr<Queue> queue;
  std::vector<abi::QueueEntry> entries;
  std::vector<Signal> signals;
  QueueTicket last;  // of the last run

  void add_signal(DeviceAddress at, bool waits) {
    signals.push_back({entries.size(), at, waits});
    entries.push_back(entries::nop());  // until a run has its number
  }
};

}  // namespace

struct LaunchList::Impl {
  Impl(ProcessContext& owner, const LaunchListOptions& wanted)
      : process(owner), options(wanted), clock(impl_of(owner).link.clock()), arguments(owner) {}

  Status check(const KernelLaunch& launch) const;
  RecordedLane& lane_of(const RecordedLaunch& launch) {
    return lanes[static_cast<std::size_t>(launch.launch.cores)];
  }
  DeviceAddress signal(std::size_t number) const { return signals + number * kSignalBytes; }
  std::size_t most_signals() const { return launches.size() + 2 * gaps; }
  void make_entries();
  Status make_queues();
  Result<QueueTicket> submit(RecordedLane& lane, const abi::QueueEntry* entries, std::size_t count,
                             Instant deadline, bool completion);
  Status submit_all(RecordedLane& lane, bool is_last, Instant deadline);
  std::vector<abi::QueueEntry> changed_arguments();

  ProcessContext& process;
  const LaunchListOptions options;
  platform::Clock& clock;
  ArgumentChunks arguments;
  std::vector<RecordedLaunch> launches;
  std::size_t gaps = 0;
  std::vector<std::size_t> gap_signals;  // the first of two, by gap
  std::array<RecordedLane, kLaunchCores> lanes;
  DeviceAddress signals;
  std::uint64_t runs = 0;
  bool finished = false, running = false;
};

Status LaunchList::Impl::check(const KernelLaunch& launch) const {
  if (launch.module == nullptr || launch.blocks == 0 || launch.bytes > abi::kMaxArgumentBytes) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a launch of {} blocks with {} bytes of arguments", launch.blocks,
                            launch.bytes));
  }
  return {};
}

void LaunchList::Impl::make_entries() {
  std::size_t next = 0, passed = 0;
  RecordedLane* before = nullptr;
  gap_signals.clear();
  for (auto& launch : launches) {
    auto& lane = lane_of(launch);
    if (launch.gap != passed) {
      gap_signals.push_back(next);
      if (before != nullptr) before->add_signal(signal(next), false);
      lane.add_signal(signal(next + 1), true);
      next += 2;
      passed = launch.gap;
    } else if (before != nullptr && before != &lane) {
      before->add_signal(signal(next), false);
      lane.add_signal(signal(next), true);
      ++next;
    }
    launch.entry = lane.entries.size();
    lane.entries.push_back(launch.make());
    before = &lane;
  }
}

// Rings have room for two runs, so that no run waits for the one before it to be read.
Status LaunchList::Impl::make_queues() {
  for (std::size_t kind = 0; kind < kLaunchCores; ++kind) {
    auto& lane = lanes[kind];
    if (lane.entries.empty()) continue;
    QueueOptions wanted;
    wanted.in_order = true;
    wanted.priority = options.priority;
    wanted.preemptible = options.preemptible;
    wanted.interrupt = false;
    wanted.core_mask = options.cores[kind];
    // Arguments that have changed may be as many as the launches.
    const auto most = 2 * (lane.entries.size() + launches.size() + 1);
    while (std::uint64_t{1} << wanted.ring.log2_entries < most) ++wanted.ring.log2_entries;
    if (wanted.ring.log2_entries > abi::kMaxLog2Ring) return invalid("too many launches");
    auto queue = process.create_queue(wanted);
    if (!queue) return forward_error(queue);
    static_cast<void>(process.take_faults((*queue)->id()));  // of an earlier queue of this number
    lane.queue = std::move(*queue);
  }
  return {};
}

Result<QueueTicket> LaunchList::Impl::submit(RecordedLane& lane, const abi::QueueEntry* entries,
                                             std::size_t count, Instant deadline, bool completion) {
  QueueEntryOptions how;
  how.completion = completion;
  auto ticket = submit_in_time_slice(process, *lane.queue, entries, count, deadline, how);
  if (ticket) lane.last = *ticket;
  return ticket;
}

// Only the end of the last queue's entries is waited for.
Status LaunchList::Impl::submit_all(RecordedLane& lane, bool is_last, Instant deadline) {
  for (const auto& each : lane.signals) {
    lane.entries[each.entry] =
        each.waits ? wait_for_signal(each.at, runs) : entries::record_memory(each.at, runs);
  }
  const auto quiet = lane.entries.size() - (is_last ? 1 : 0);
  if (quiet > 0) {
    if (auto ok = submit(lane, lane.entries.data(), quiet, deadline, false); !ok) {
      return forward_error(ok);
    }
  }
  if (!is_last) return {};
  const auto ok = submit(lane, &lane.entries.back(), 1, deadline, true);
  return ok ? Status() : forward_error(ok);
}

std::vector<abi::QueueEntry> LaunchList::Impl::changed_arguments() {
  std::vector<abi::QueueEntry> copies;
  for (auto& launch : launches) {
    if (!launch.changed) continue;
    launch.changed = false;
    const auto& at = launch.arguments;
    copies.push_back(entries::copy_to_device(at.bus, at.device, launch.launch.bytes));
  }
  return copies;
}

LaunchList::LaunchList(ProcessContext& process, const LaunchListOptions& options)
    : impl_(std::make_unique<Impl>(process, options)) {}

LaunchList::~LaunchList() {
  for (auto& lane : impl_->lanes) lane.queue.reset();
  if (impl_->signals.value != 0) {
    static_cast<void>(impl_->process.space().free(impl_->signals));
  }
}

Result<std::size_t> LaunchList::add(const KernelLaunch& launch) {
  if (impl_->finished) return invalid("a launch behind the end of a list");
  if (auto ok = impl_->check(launch); !ok) return forward_error(ok);
  RecordedLaunch recorded;
  recorded.launch = launch;
  recorded.launch.write = nullptr;
  recorded.gap = impl_->gaps;
  if (launch.bytes != 0) {
    const auto place = impl_->arguments.take(launch.bytes);
    if (!place) return forward_error(place);
    recorded.arguments = *place;
    if (auto ok = launch.write(place->host, place->device); !ok) return forward_error(ok);
  }
  impl_->launches.push_back(std::move(recorded));
  return impl_->launches.size() - 1;
}

std::size_t LaunchList::add_gap() {
  return impl_->gaps++;
}

Status LaunchList::finish(Instant deadline) {
  auto& all = *impl_;
  if (all.finished || all.launches.empty()) return invalid("a list without launches, or ended");
  std::size_t gap = 0;
  for (const auto& launch : all.launches) {
    if (launch.gap > gap + 1) return invalid("a gap beside another one");
    gap = launch.gap;
  }
  if (all.launches.front().gap != 0 || gap != all.gaps) {
    return invalid("a gap that is not between launches");
  }
  const Bytes size = all.most_signals() * kSignalBytes;
  const auto memory = all.process.space().allocate(size);
  if (!memory) return forward_error(memory);
  all.signals = memory->address;
  all.make_entries();
  if (auto ok = all.make_queues(); !ok) return ok;
  auto first = all.arguments.copies();
  first.push_back(entries::fill(all.signals, size, 0));
  auto& lane = all.lane_of(all.launches.front());
  const auto copied = all.submit(lane, first.data(), first.size(), deadline, true);
  if (!copied) return forward_error(copied);
  if (auto ok = lane.queue->wait(*copied, WaitPolicy::kPolling, deadline); !ok) return ok;
  all.finished = true;
  return {};
}

Status LaunchList::update(std::size_t number, const KernelLaunch& launch) {
  auto& all = *impl_;
  if (!all.finished || all.running) return invalid("an update of a list that is recorded or runs");
  if (number >= all.launches.size()) return invalid("no such launch in the list");
  if (auto ok = all.check(launch); !ok) return ok;
  auto& recorded = all.launches[number];
  if (launch.cores != recorded.launch.cores || launch.bytes > recorded.arguments.host.size) {
    return invalid("an update with other cores, or with more arguments");
  }
  recorded.launch = launch;
  recorded.launch.write = nullptr;
  if (launch.bytes != 0) {
    const ByteSpan host = recorded.arguments.host.subspan(0, launch.bytes);
    if (auto ok = launch.write(host, recorded.arguments.device); !ok) return ok;
    recorded.changed = true;
  }
  all.lane_of(recorded).entries[recorded.entry] = recorded.make();
  return {};
}

Status LaunchList::run(Instant deadline) {
  auto& all = *impl_;
  if (!all.finished) return invalid("a run of a list without an end");
  ++all.runs;
  auto& first = all.lane_of(all.launches.front());
  const auto& last = all.lane_of(all.launches.back());
  all.running = true;
  const auto copies = all.changed_arguments();
  if (!copies.empty()) {
    const auto copied = all.submit(first, copies.data(), copies.size(), deadline, false);
    if (!copied) return forward_error(copied);
  }
  for (auto& lane : all.lanes) {
    if (lane.queue == nullptr) continue;
    if (auto ok = all.submit_all(lane, &lane == &last, deadline); !ok) return ok;
  }
  return {};
}

abi::QueueEntry LaunchList::wait_for_gap(std::size_t gap) const {
  return wait_for_signal(impl_->signal(impl_->gap_signals.at(gap)), impl_->runs);
}

abi::QueueEntry LaunchList::end_gap(std::size_t gap) const {
  return entries::record_memory(impl_->signal(impl_->gap_signals.at(gap) + 1), impl_->runs);
}

// A queue that has stopped leaves the others waiting, so all are looked at.
Status LaunchList::wait(Instant deadline) {
  auto& all = *impl_;
  if (!all.running) return {};
  auto& last = all.lane_of(all.launches.back());
  for (;;) {
    const auto until = std::min(deadline, all.clock.now() + kLookAround);
    auto ended = last.queue->wait(last.last, WaitPolicy::kPolling, until);
    if (ended) all.running = false;
    if (ended || ended.error().code != ErrorCode::kTimeout) return ended;
    for (const auto& lane : all.lanes) {
      if (lane.queue != nullptr && lane.queue->faulted()) {
        return fail(
            ErrorCode::kDeviceFault,
            fmt::format("queue {} of a list of launches has stopped", lane.queue->id().value));
      }
    }
    if (all.clock.now() >= deadline) return ended;
  }
}

QueueTicket LaunchList::place_of(std::size_t number) const {
  const auto& launch = impl_->launches.at(number);
  const auto& lane = impl_->lanes[static_cast<std::size_t>(launch.launch.cores)];
  QueueTicket place;
  place.queue = lane.queue->id();
  place.index = lane.last.index - (lane.entries.size() - 1 - launch.entry);
  return place;
}

std::size_t LaunchList::launches() const {
  return impl_->launches.size();
}

}  // namespace npu::driver
