// SPDX-License-Identifier: Apache-2.0
// What workloads may see of the simulator they run on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/system.hpp"
#include "workloads/framework/simulator_view.hpp"
#include "workloads/framework/trace_session.hpp"

namespace npu::workloads {

class SystemView : public SimulatorView, public TraceSource {
 public:
  // `system` outlives the view.
  explicit SystemView(model::System& system) : system_(system) {}

  Picoseconds simulated_time() const override;
  std::vector<LinkCounters> links() const override;
  std::vector<MemoryCounters> memories() const override;
  std::vector<MmuCounters> mmus() const override;
  std::vector<L2Counters> l2s() const override;
  std::vector<PeerLinkCounters> peer_links() const override;
  std::vector<RunCounter> counters() const override;
  std::vector<std::string> overtaken_stores() const override;
  std::vector<std::string> hazards() const override;
  std::vector<AicpuPhase> aicpu_phases(std::size_t card) const override;
  std::vector<FunctionWaits> function_waits() const override;
  std::uint64_t events() const override { return system_.simulation().agenda.served(); }

  void add(platform::TraceSink& sink) override { system_.simulation().recorder.add(sink); }
  void remove(platform::TraceSink& sink) override { system_.simulation().recorder.remove(sink); }
  std::string track_name(std::uint32_t track) const override;
  std::map<std::string, std::string> bus_addresses() const override;

 private:
  model::System& system_;
};

}  // namespace npu::workloads
