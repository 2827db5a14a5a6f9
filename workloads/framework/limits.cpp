// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/limits.hpp"

#include <algorithm>
#include <cmath>

namespace npu::workloads {

namespace {

std::uint64_t count(Picoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

// `part` of `whole` picoseconds with weight numerator / denominator.
Number weighted_percent(Picoseconds time, Bytes part, Bytes all, std::uint64_t whole) {
  if (all == 0) return Number::percent(0, 1);
  const double share = static_cast<double>(part) / static_cast<double>(all);
  const double weighted = static_cast<double>(time.count()) * share;
  return Number::percent(static_cast<std::uint64_t>(std::llround(weighted)), whole);
}

Limit limit(const std::string& subject, const std::string& name, Number percent,
            const std::string& what) {
  return {subject, name, percent, percent.text() + " % " + what};
}

// Largest first; equal ones keep their order.
std::vector<Limit> sorted(std::vector<Limit> limits) {
  std::stable_sort(limits.begin(), limits.end(), [](const Limit& a, const Limit& b) {
    return a.percent.value() > b.percent.value();
  });
  return limits;
}

LinkCounters gain(const LinkCounters& before, LinkCounters after) {
  after.busy -= before.busy;
  after.tlps -= before.tlps;
  after.payload -= before.payload;
  after.header -= before.header;
  after.dllp -= before.dllp;
  after.credit_stall -= before.credit_stall;
  return after;
}

MemoryCounters gain(const MemoryCounters& before, MemoryCounters after) {
  after.read -= before.read;
  after.written -= before.written;
  after.row_hits -= before.row_hits;
  after.row_misses -= before.row_misses;
  after.refreshes -= before.refreshes;
  after.data -= before.data;
  after.refresh -= before.refresh;
  after.turnaround -= before.turnaround;
  after.row -= before.row;
  after.column -= before.column;
  after.idle -= before.idle;
  return after;
}

L2Counters gain(const L2Counters& before, L2Counters after) {
  after.read -= before.read;
  after.written -= before.written;
  after.hits -= before.hits;
  after.misses -= before.misses;
  after.fetched -= before.fetched;
  after.written_back -= before.written_back;
  after.snooped -= before.snooped;
  after.busy -= before.busy;
  after.queued -= before.queued;
  after.blocked -= before.blocked;
  return after;
}

}  // namespace

Snapshot take_snapshot(const SimulatorView& simulator) {
  return {simulator.simulated_time(), simulator.links(), simulator.memories(), simulator.l2s()};
}

Snapshot difference(const Snapshot& before, const Snapshot& after) {
  Snapshot gained{after.time - before.time, {}, {}, {}};
  for (std::size_t i = 0; i < std::min(before.links.size(), after.links.size()); ++i) {
    gained.links.push_back(gain(before.links[i], after.links[i]));
  }
  for (std::size_t i = 0; i < std::min(before.memories.size(), after.memories.size()); ++i) {
    gained.memories.push_back(gain(before.memories[i], after.memories[i]));
  }
  for (std::size_t i = 0; i < std::min(before.l2s.size(), after.l2s.size()); ++i) {
    gained.l2s.push_back(gain(before.l2s[i], after.l2s[i]));
  }
  return gained;
}

const LinkCounters& busiest_link(const Snapshot& gained) {
  return *std::max_element(
      gained.links.begin(), gained.links.end(),
      [](const LinkCounters& a, const LinkCounters& b) { return a.busy < b.busy; });
}

std::vector<Limit> link_limits(const std::string& subject, const Snapshot& gained) {
  if (gained.links.empty() || gained.time.count() <= 0) return {};
  const auto* busiest = &busiest_link(gained);
  const Bytes wire = busiest->payload + busiest->header + busiest->dllp;
  const auto elapsed = count(gained.time);
  const auto idle = std::max(gained.time - busiest->busy - busiest->credit_stall, Picoseconds(0));
  const std::string of = " of the time of " + busiest->name;
  return sorted(
      {limit(subject, "tlp_overhead",
             weighted_percent(busiest->busy, busiest->header, wire, elapsed),
             "TLP headers and framing," + of),
       limit(subject, "dllp", weighted_percent(busiest->busy, busiest->dllp, wire, elapsed),
             "DLLPs (acknowledgements, credits)," + of),
       limit(subject, "credits", Number::percent(count(busiest->credit_stall), elapsed),
             "waiting for flow control credits," + of),
       limit(subject, "link_idle", Number::percent(count(idle), elapsed),
             "idle (latency, too little in flight)," + of)});
}

std::vector<Limit> memory_limits(const std::string& subject, const Snapshot& gained,
                                 std::size_t card) {
  if (card >= gained.memories.size() || gained.time.count() <= 0) return {};
  const auto& memory = gained.memories[card];
  const auto share = [&](Picoseconds time) {
    return Number::percent(count(time), count(memory.total()));
  };
  const std::string of = " of the time of " + memory.name;
  return sorted(
      {limit(subject, "refresh", share(memory.refresh), "refresh," + of),
       limit(subject, "row_misses", share(memory.row), "row misses (precharge, activate)," + of),
       limit(subject, "column_gaps", share(memory.column),
             "gaps between column commands (tCCD_L)," + of),
       limit(subject, "turnaround", share(memory.turnaround),
             "turnaround between reads and writes," + of),
       limit(subject, "memory_idle", share(memory.idle),
             "nothing queued (latency, too little in flight)," + of)});
}

Bytes memory_traffic(const Snapshot& gained, std::size_t card) {
  if (card >= gained.memories.size()) return 0;
  return gained.memories[card].read + gained.memories[card].written;
}

}  // namespace npu::workloads
