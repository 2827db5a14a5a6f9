// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/fabric_links.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npu::workloads {
namespace {

constexpr std::size_t kShown = 16;

}  // namespace

void FabricLinks::add(const std::vector<PeerLinkCounters>& before,
                      const std::vector<PeerLinkCounters>& after, Picoseconds elapsed) {
  elapsed_ += elapsed;
  if (links_.empty()) {
    links_ = after;
    for (auto& link : links_) link.busy = {}, link.payload = 0;
  }
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i].busy += after[i].busy - before[i].busy;
    links_[i].payload += after[i].payload - before[i].payload;
    links_[i].queue_peak = after[i].queue_peak;
  }
}

void FabricLinks::report(Report& report) const {
  const bool switched = std::any_of(links_.begin(), links_.end(),
                                    [](const PeerLinkCounters& link) { return link.switched; });
  if (!switched || elapsed_ == Picoseconds()) return;
  auto sorted = links_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.busy > b.busy; });
  auto& table = report.add_table("links of the fabric, the busiest first",
                                 {"link", "busy %", "payload KiB", "queue peak KiB"});
  for (std::size_t i = 0; i < std::min(kShown, sorted.size()); ++i) {
    const auto& link = sorted[i];
    if (link.busy == Picoseconds()) break;
    const auto percent = Number::percent(static_cast<std::uint64_t>(link.busy.count()),
                                         static_cast<std::uint64_t>(elapsed_.count()));
    table.rows.push_back({link.name, percent.text(), fmt::format("{}", link.payload / 1024),
                          fmt::format("{}", (link.queue_peak + 1023) / 1024)});
  }
}

}  // namespace npu::workloads
