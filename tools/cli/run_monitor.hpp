// SPDX-License-Identifier: Apache-2.0
// Whoever waits for a run: what is drawn of it meanwhile, and the signals that end it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tools/cli/interruption.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/simulator.hpp"
#include "tools/cli/ticker.hpp"
#include "tools/cli/watch/watch.hpp"

namespace npu::cli {

class RunMonitor : public Observer {
 public:
  // `watch`: draws it instead of a line; null: there is none.
  RunMonitor(const std::string& name, Watch* watch);

  const std::atomic<bool>& raised() const override { return Interruption::raised(); }
  bool look(workloads::SimulatorView& simulator) override;
  // What the workload says of its way.
  void step(std::string_view what, std::uint64_t done, std::uint64_t total);
  // Shows no more.
  void finish();
  // The signal that has ended the run; 0: none.
  int signal() const { return ended_by_; }

 private:
  RunProgress progress_;
  Watch* watch_;
  int ended_by_ = 0;
  std::optional<Ticker> ticker_;
};

}  // namespace npu::cli
