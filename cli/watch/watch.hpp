// SPDX-License-Identifier: Apache-2.0
// --watch: the screen of the terminal that standard error is, drawn anew while a run goes on. The
// screen that was there comes back at the end.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/failure.hpp"
#include "cli/simulator.hpp"
#include "cli/watch/frame.hpp"

namespace npu::cli {

class Watch : public Listener {
 public:
  // What gives the terminal back, whatever happened.
  static constexpr const char* kRestore = "\x1b[?25h\x1b[?1049l";

  // Null if not `wanted`; exit code 2 without a terminal that can.
  static tl::expected<std::unique_ptr<Watch>, Failure> open(bool wanted, std::string title);
  ~Watch() override;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void begin(workloads::TraceSource& source) override;
  void end(workloads::TraceSource& source, const workloads::SimulatorView& simulator) override;
  // Between two events of the simulation.
  void draw(const workloads::SimulatorView& simulator, const ProgressState& progress,
            WallTime elapsed);

 private:
  explicit Watch(std::string title);
  void close();
  std::vector<MachineActivity::Unit> units(const workloads::SimulatorView& simulator);

  std::string title_;
  bool drawn_ = false;
  workloads::TraceSource* source_ = nullptr;
  MachineActivity activity_;
  std::map<std::string, Picoseconds> link_busy_;  // until the last picture
  WallTime last_time_{0};
  Picoseconds last_simulated_{0};
  std::uint64_t last_events_ = 0;
};

}  // namespace npu::cli
