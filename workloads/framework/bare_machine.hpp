// SPDX-License-Identifier: Apache-2.0
// What a machine offers that nobody looks into, such as one with a real card: no events and no
// counters of models.
#pragma once

#include <string>
#include <vector>

#include "workloads/framework/simulator_view.hpp"
#include "workloads/framework/trace_session.hpp"

namespace npu::workloads {

class BareMachine : public TraceSource, public SimulatorView {
 public:
  bool has_events() const override { return false; }
  void add(platform::TraceSink& /*sink*/) override {}
  void remove(platform::TraceSink& /*sink*/) override {}
  std::string track_name(std::uint32_t /*track*/) const override { return {}; }
  Picoseconds simulated_time() const override { return {}; }
  std::vector<LinkCounters> links() const override { return {}; }
  std::vector<MemoryCounters> memories() const override { return {}; }
  std::vector<MmuCounters> mmus() const override { return {}; }
};

}  // namespace npu::workloads
