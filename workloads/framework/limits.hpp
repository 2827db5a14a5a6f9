// SPDX-License-Identifier: Apache-2.0
// What kept a bandwidth below the peak, from the models' counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/framework/dma_usage.hpp"
#include "workloads/framework/reporting.hpp"
#include "workloads/framework/simulator_view.hpp"

namespace npu::workloads {

struct Snapshot {
  Picoseconds time;
  std::vector<LinkCounters> links;
  std::vector<MemoryCounters> memories;
  std::vector<L2Counters> l2s = {};
};

Snapshot take_snapshot(const SimulatorView& simulator);

// What the counters gained between two snapshots of the same system.
Snapshot difference(const Snapshot& before, const Snapshot& after);

// The direction that was busy longest; `gained` must have links.
const LinkCounters& busiest_link(const Snapshot& gained);

// A cause of idle time: `time` of a measurement was its.
struct IdleCause {
  std::string name;  // "engines"
  std::string what;  // "all engines have a command"
  Picoseconds time;
};

// Why what the engines of `usage` feed stood idle. `over_link`: they read over the link;
// `memory_full`: the card's memory had no idle time to speak of.
std::vector<IdleCause> idle_causes(const DmaUsage& usage, const DmaEngines& engines, bool over_link,
                                   bool memory_full);

// How the time of the busiest link direction was spent: payload moves, the rest is a limit named
// "tlp_overhead", "dllp", "credits" (flow control) or by the causes of its idle time, which share
// that in proportion ("link_idle" without causes). With little idle time the payload's share is
// there, too, as "link". Percent of the time elapsed; all add up to 100 up to rounding, and none is
// 0. Largest first; empty without links.
std::vector<Limit> link_limits(const std::string& subject, const Snapshot& gained,
                               const std::vector<IdleCause>& causes = {});

// The same for the memory of card `card`: "refresh", "row_misses", "column_gaps", "turnaround", the
// causes of idle time ("memory_idle" without) and, with little of it, "hbm". Percent of elapsed
// time times pseudo channels; data moves in the rest.
std::vector<Limit> memory_limits(const std::string& subject, const Snapshot& gained,
                                 std::size_t card, const std::vector<IdleCause>& causes = {});

// Time in which the direction moved nothing and waited for no credits; in which the memory of
// `card` had nothing queued.
Number link_idle_percent(const Snapshot& gained);
Number memory_idle_percent(const Snapshot& gained, std::size_t card);

// Bytes read and written in that memory.
Bytes memory_traffic(const Snapshot& gained, std::size_t card);

}  // namespace npu::workloads
