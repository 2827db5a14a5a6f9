// SPDX-License-Identifier: Apache-2.0
// --watch: the screen of the terminal that standard error is, drawn anew while a run goes on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/failure.hpp"
#include "tools/cli/simulator.hpp"
#include "tools/cli/watch/frame.hpp"
#include "tools/cli/watch/screen.hpp"

namespace npu::cli {

class Watch : public Listener {
 public:
  // Null if not `wanted`; exit code 2 without a terminal that can.
  static tl::expected<std::unique_ptr<Watch>, Failure> open(bool wanted, std::string title);

  void begin(workloads::TraceSource& source) override;
  void end(workloads::TraceSource& source, const workloads::SimulatorView& simulator) override;
  // Between two events of the simulation.
  void draw(const workloads::SimulatorView& simulator, const ProgressState& progress,
            WallTime elapsed);

 private:
  explicit Watch(std::string title);
  void show(const WatchFrame& frame);
  std::vector<MachineActivity::Unit> units(const workloads::SimulatorView& simulator);

  std::string title_;
  std::optional<Screen> screen_;
  workloads::TraceSource* source_ = nullptr;
  MachineActivity activity_;
  WallTime last_time_{0};
  Picoseconds last_simulated_{0};
  std::uint64_t last_events_ = 0;
};

}  // namespace npu::cli
