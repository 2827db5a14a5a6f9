// SPDX-License-Identifier: Apache-2.0
// The links of a fabric with switches or NICs, in reports: how busy they were, and what waited.
#pragma once

#include <vector>

#include "tools/reports/report.hpp"
#include "workloads/framework/simulator_view.hpp"

namespace npu::workloads {

class FabricLinks {
 public:
  // What links have done in a time of `elapsed`.
  void add(const std::vector<PeerLinkCounters>& before, const std::vector<PeerLinkCounters>& after,
           Picoseconds elapsed);
  // A table of the busiest ones, where there is a link with a switch or NIC at an end.
  void report(Report& report) const;

 private:
  std::vector<PeerLinkCounters> links_;
  Picoseconds elapsed_;
};

}  // namespace npu::workloads
