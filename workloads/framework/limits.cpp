// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/limits.hpp"
#include "workloads/framework/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/framework/measurement.hpp"

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

// `idle` in parts, one for each cause.
void add_idle(std::vector<Limit>& limits, const std::string& subject, const std::string& plain_name,
              const Number& idle, const std::vector<IdleCause>& causes, const std::string& of) {
  Picoseconds all;
  for (const auto& cause : causes) all += cause.time;
  if (all.count() <= 0) {
    limits.push_back(limit(subject, plain_name, idle, "idle," + of));
    return;
  }
  std::int64_t done = 0;
  Picoseconds passed;
  for (const auto& cause : causes) {
    // Rounded as a running sum, so that the parts add up to the whole.
    passed += cause.time;
    const double share = static_cast<double>(passed.count()) / static_cast<double>(all.count());
    const auto upto = std::llround(static_cast<double>(idle.value()) * share);
    const auto percent = Number::scaled(upto - done, idle.decimals());
    done = upto;
    limits.push_back(limit(subject, cause.name, percent, "idle," + of + ": " + cause.what));
  }
}

// Up to here the rest of the time is the limit itself.
bool is_little(const Number& percent) {
  return percent.value() < 10'000;
}

// Largest first; equal ones keep their order. What is nothing limits nothing.
std::vector<Limit> sorted(std::vector<Limit> limits) {
  limits.erase(std::remove_if(limits.begin(), limits.end(),
                              [](const Limit& each) { return each.percent.value() == 0; }),
               limits.end());
  std::stable_sort(limits.begin(), limits.end(), [](const Limit& a, const Limit& b) {
    return a.percent.value() > b.percent.value();
  });
  return limits;
}

LinkCounters gain(const LinkCounters& before, const LinkCounters& after) {
  using C = LinkCounters;
  return counted_between(before, after, &C::busy, &C::tlps, &C::payload, &C::header, &C::dllp,
                         &C::credit_stall);
}

MemoryCounters gain(const MemoryCounters& before, const MemoryCounters& after) {
  using C = MemoryCounters;
  return counted_between(before, after, &C::read, &C::written, &C::row_hits, &C::row_misses,
                         &C::refreshes, &C::data, &C::refresh, &C::turnaround, &C::row, &C::column,
                         &C::idle);
}

L2Counters gain(const L2Counters& before, const L2Counters& after) {
  using C = L2Counters;
  return counted_between(before, after, &C::read, &C::written, &C::hits, &C::misses, &C::fetched,
                         &C::written_back, &C::snooped, &C::busy, &C::queued, &C::blocked);
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

std::vector<IdleCause> idle_causes(const DmaUsage& usage, const DmaEngines& engines, bool over_link,
                                   bool memory_full) {
  constexpr std::int64_t kNearlyAll = 90;
  // Whatever else is so: more in flight would wait there.
  if (memory_full) return {{"hbm", "device memory is full", Picoseconds(1)}};
  IdleCause busy{"engines",
                 fmt::format("all engines have a command (dma.engines={})", engines.count),
                 usage.time(DmaCause::kEngines)};
  if (over_link && usage.reads_percent() >= kNearlyAll) {
    busy = {"outstanding_reads",
            fmt::format("all engines have as many reads in flight as they may "
                        "(dma.max_outstanding_reads={})",
                        engines.outstanding_reads),
            busy.time};
  }
  return {busy,
          {"stream_order", "free engines, but what waits is to follow commands in flight (streams)",
           usage.time(DmaCause::kOrder)},
          {"fetch", "free engines, but entries still lie in the ring (dma.fetch_batch)",
           usage.time(DmaCause::kFetch)},
          {"host", "free engines, the host submits too slowly", usage.time(DmaCause::kHost)},
          {"in_flight", "free engines, too few commands in flight (depth, streams)",
           usage.time(DmaCause::kInFlight)}};
}

Number link_idle_percent(const Snapshot& gained) {
  const auto& busiest = busiest_link(gained);
  const auto idle = std::max(gained.time - busiest.busy - busiest.credit_stall, Picoseconds(0));
  return Number::percent(count(idle), count(gained.time));
}

std::vector<Limit> link_limits(const std::string& subject, const Snapshot& gained,
                               const std::vector<IdleCause>& causes) {
  if (gained.links.empty() || gained.time.count() <= 0) return {};
  const auto* busiest = &busiest_link(gained);
  const Bytes wire = busiest->payload + busiest->header + busiest->dllp;
  const auto elapsed = count(gained.time);
  const auto share = [&](Bytes part) {
    return weighted_percent(busiest->busy, part, wire, elapsed);
  };
  const std::string of = " of the time of " + busiest->name;
  const auto credits = Number::percent(count(busiest->credit_stall), elapsed);
  const auto idle = link_idle_percent(gained);
  std::vector<Limit> limits{
      limit(subject, "tlp_overhead", share(busiest->header), "TLP headers and framing," + of),
      limit(subject, "dllp", share(busiest->dllp), "DLLPs (acknowledgements, credits)," + of),
      limit(subject, "credits", credits, "waiting for flow control credits," + of)};
  if (is_little(Number::scaled(idle.value() + credits.value(), idle.decimals()))) {
    limits.push_back(
        limit(subject, "link", share(busiest->payload), "data," + of + ": it is full"));
  }
  add_idle(limits, subject, "link_idle", idle, causes, of);
  return sorted(std::move(limits));
}

Number memory_idle_percent(const Snapshot& gained, std::size_t card) {
  if (card >= gained.memories.size()) return Number::percent(0, 1);
  return Number::percent(count(gained.memories[card].idle), count(gained.memories[card].total()));
}

std::vector<Limit> memory_limits(const std::string& subject, const Snapshot& gained,
                                 std::size_t card, const std::vector<IdleCause>& causes) {
  if (card >= gained.memories.size() || gained.time.count() <= 0) return {};
  const auto& memory = gained.memories[card];
  const auto share = [&](Picoseconds time) {
    return Number::percent(count(time), count(memory.total()));
  };
  const std::string of = " of the time of " + memory.name;
  std::vector<Limit> limits{
      limit(subject, "refresh", share(memory.refresh), "refresh," + of),
      limit(subject, "row_misses", share(memory.row), "row misses (precharge, activate)," + of),
      limit(subject, "column_gaps", share(memory.column),
            "gaps between column commands (tCCD_L)," + of),
      limit(subject, "turnaround", share(memory.turnaround),
            "turnaround between reads and writes," + of)};
  const auto idle = memory_idle_percent(gained, card);
  if (is_little(idle)) {
    limits.push_back(limit(subject, "hbm", share(memory.data), "data," + of + ": it is full"));
  }
  add_idle(limits, subject, "memory_idle", idle, causes, of);
  return sorted(std::move(limits));
}

Bytes memory_traffic(const Snapshot& gained, std::size_t card) {
  if (card >= gained.memories.size()) return 0;
  return gained.memories[card].read + gained.memories[card].written;
}

}  // namespace npu::workloads
