// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/queue_fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>

#include "workloads/framework/host_room.hpp"

namespace npu::workloads {

namespace {

constexpr Bytes kWord = sizeof(std::uint64_t);
// At most: a cycle of the slowest core that can be configured, and an entry without its kernel.
constexpr Picoseconds kCycle = 1_us, kEntry = 1_ms;

std::uint64_t tag(std::uint64_t queue, std::uint64_t entry) {
  return (queue + 1) << 32 | (entry + 1);
}

}  // namespace

// When the card completed the entries of each queue.
class QueueFleet::Completions : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override {
    if (event.activity != platform::Activity::kQueueComplete) return;
    auto& queue = queues_[event.detail];
    const auto last = queue.count++ == 0 ? begin : queue.last;
    if (event.end - last > longest_gap.end - longest_gap.begin) {
      longest_gap = {last, event.end, event.cause};
    }
    queue.last = event.end;
    if (queue.count == wanted && !first) first = MeasuredSpan{begin, event.end, event.cause};
  }

  std::uint64_t wanted = 0;  // entries of a queue in a loop
  Instant begin;             // of the submissions
  std::optional<MeasuredSpan> first;
  MeasuredSpan longest_gap{};

 private:
  struct Seen {
    std::uint64_t count = 0;
    Instant last;
  };
  std::map<std::uint64_t, Seen> queues_;
};

Result<std::unique_ptr<QueueFleet>> QueueFleet::make(Context& context, driver::Device& device,
                                                     const FleetShape& shape) {
  assert(shape.processes > 0);
  const auto each = (shape.queues + shape.processes - 1) / shape.processes;
  constexpr std::uint64_t kMost = abi::kQueueDoorbells - 1;  // the session has one of its own
  if (each > kMost) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("queues = {} on processes = {}: a process has at most {}", shape.queues,
                            shape.processes, kMost));
  }
  // The entry, its two words on the card, and its places in rings.
  constexpr Bytes kPerEntry = sizeof(abi::QueueEntry) + 2 * kWord + 16;
  const auto what = fmt::format("queues={} entries={}", shape.queues, shape.entries);
  if (auto ok = require_host_memory(what, shape.queues * shape.entries * kPerEntry); !ok) {
    return forward_error(ok);
  }
  std::unique_ptr<QueueFleet> fleet(new QueueFleet(context, shape));
  for (std::uint64_t i = 0; i < shape.processes; ++i) {
    auto session = QueueSession::open(context, device);
    if (!session) return forward_error(session);
    fleet->sessions_.push_back(std::move(*session));
  }
  for (std::uint64_t i = 0; i < shape.queues; ++i) {
    auto& session = *fleet->sessions_[i % shape.processes];
    if (auto ok = fleet->add_member(session, i); !ok) return forward_error(ok);
  }
  return fleet;
}

Status QueueFleet::add_member(QueueSession& session, std::uint64_t number) {
  Member member{&session, nullptr, {}, {}, {}};
  member.tickets.resize(std::size_t{1} << shape_.options.ring.log2_entries);
  auto memory = session.allocate(2 * row_bytes());
  if (!memory) return forward_error(memory);
  member.memory = *memory;
  std::vector<std::uint64_t> tags(2 * shape_.entries);  // and zeros where they are copied to
  for (std::uint64_t i = 0; i < shape_.entries; ++i) tags[i] = tag(number, i);
  auto written = session.write(member.memory,
                               {reinterpret_cast<const std::byte*>(tags.data()), 2 * row_bytes()});
  if (!written) return written;
  auto queue = session.create_queue(shape_.options);
  if (!queue) return forward_error(queue);
  member.queue = std::move(*queue);
  if (auto ok = make_work(member); !ok) return ok;
  members_.push_back(std::move(member));
  return {};
}

Status QueueFleet::make_work(Member& member) {
  abi::QueueEntry kernel;
  if (shape_.spin_cycles != 0) {
    auto made = member.session->launch("spin", 1, &shape_.spin_cycles, 1);
    if (!made) return forward_error(made);
    kernel = *made;
  }
  for (std::uint64_t i = 0; i < shape_.entries; ++i) {
    const auto from = member.memory + i * kWord;
    const bool spin = shape_.spin_cycles != 0 && i % 2 == 0;
    member.work.push_back(spin ? kernel
                               : driver::entries::copy_on_device(from, from + row_bytes(), kWord));
  }
  return {};
}

Status QueueFleet::submit_all() {
  driver::QueueEntryOptions options;
  options.interrupt = false;
  for (std::uint64_t i = 0; i < shape_.entries; ++i) {
    for (auto& member : members_) {
      const auto deadline = deadline_of(context_, longest_work());
      auto ticket = member.queue->submit(member.work[i], deadline, options);
      if (!ticket) return forward_error(ticket);
      // Its place was another's, which is complete: else there had been no room.
      member.tickets[ticket->sequence % member.tickets.size()] = *ticket;
    }
  }
  return {};
}

// Entries overtake each other, so the last one's end says nothing of the others.
Status QueueFleet::wait_for_all() {
  for (auto& member : members_) {
    for (const auto& ticket : member.tickets) {
      if (ticket.sequence == 0) continue;
      auto done = member.queue->wait(ticket, driver::WaitPolicy::kPolling,
                                     deadline_of(context_, longest_work()));
      if (!done) return done;
    }
  }
  return {};
}

// As if one core did all of a loop.
Picoseconds QueueFleet::longest_work() const {
  const auto entries = static_cast<std::int64_t>(shape_.queues * shape_.entries);
  const auto kernel = static_cast<std::int64_t>(shape_.spin_cycles) * kCycle;
  return entries * (kEntry + kernel);
}

Result<FleetTimes> QueueFleet::run() {
  FleetTimes times;
  Completions completions;
  completions.wanted = shape_.entries;
  const TraceSession listening(context_.trace, completions);
  auto& clock = context_.platform.clock();
  const Instant begin = completions.begin = clock.now();
  for (std::uint64_t loop = 0; loop < shape_.loops; ++loop) {
    if (auto ok = submit_all(); !ok) return forward_error(ok);
    if (auto ok = wait_for_all(); !ok) return forward_error(ok);
  }
  times.all = {begin, clock.now()};
  if (!completions.first) {
    return fail(ErrorCode::kWrongData, "no queue was seen to complete all its entries");
  }
  times.first = *completions.first;
  times.longest_gap = completions.longest_gap;
  for (auto& member : members_) {
    auto status = member.session->process().query(member.queue->id());
    if (!status) return forward_error(status);
    times.maps += status->maps;
    times.preemptions += status->preemptions;
    times.completed += status->completed;
  }
  return times;
}

Status QueueFleet::check() {
  std::vector<std::uint64_t> found(shape_.entries);
  for (std::size_t m = 0; m < members_.size(); ++m) {
    auto& member = members_[m];
    auto ok = member.session->read(member.memory + row_bytes(),
                                   {reinterpret_cast<std::byte*>(found.data()), row_bytes()});
    if (!ok) return ok;
    for (std::uint64_t i = 0; i < shape_.entries; ++i) {
      const bool kernel = shape_.spin_cycles != 0 && i % 2 == 0;
      const std::uint64_t expected = kernel ? 0 : tag(m, i);
      if (found[i] == expected) continue;
      return fail(ErrorCode::kWrongData, fmt::format("queue {}: entry {} left {:#x}, not {:#x}", m,
                                                     i, found[i], expected));
    }
    auto status = member.session->process().query(member.queue->id());
    if (!status) return forward_error(status);
    if (status->completed != shape_.entries * shape_.loops) {
      return fail(ErrorCode::kWrongData,
                  fmt::format("queue {}: the card counts {} entries complete, {} were submitted", m,
                              status->completed, shape_.entries * shape_.loops));
    }
  }
  return {};
}

Status QueueFleet::close() {
  for (auto& member : members_) {
    auto end = member.session->process().destroy(*member.queue, deadline_of(context_));
    if (!end) return forward_error(end);
  }
  members_.clear();
  for (auto& session : sessions_) {
    if (auto ok = session->close(); !ok) return ok;
  }
  sessions_.clear();
  return {};
}

}  // namespace npu::workloads
