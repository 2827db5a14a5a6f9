// SPDX-License-Identifier: Apache-2.0
// What kept a bandwidth below the peak, from the models' counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/framework/report.hpp"
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

// How the time of the busiest link direction was spent: payload moves, the rest is a limit named
// "tlp_overhead", "dllp", "credits" or "link_idle" (latency: more must be in flight). Percent of
// the time elapsed; the shares and the payload's add up to 100 up to rounding. Empty without links.
std::vector<Limit> link_limits(const std::string& subject, const Snapshot& gained);

// The same for the memory of card `card`: "refresh", "row_misses", "column_gaps", "turnaround",
// "memory_idle". Percent of elapsed time times pseudo channels; data moves in the rest.
std::vector<Limit> memory_limits(const std::string& subject, const Snapshot& gained,
                                 std::size_t card);

// Bytes read and written in that memory.
Bytes memory_traffic(const Snapshot& gained, std::size_t card);

}  // namespace npu::workloads
