// SPDX-License-Identifier: Apache-2.0
// Who looks at a run of programs from time to time: for signals that end it, and for who asks for
// metrics.
#pragma once

#include "tools/cli/interruption.hpp"
#include "tools/cli/metrics/exec_metrics.hpp"
#include "tools/cli/simulator.hpp"

namespace npu::cli {

class ExecMonitor : public Observer {
 public:
  // Null: nobody asks.
  explicit ExecMonitor(ExecMetrics* metrics) : metrics_(metrics) {
    Interruption::take_signals();
    if (metrics_ != nullptr) metrics_->tell(Interruption::raised());
  }

  const std::atomic<bool>& raised() const override { return Interruption::raised(); }
  bool look(workloads::SimulatorView& simulator) override {
    static_cast<void>(simulator);
    Interruption::raised() = false;
    if (is_interrupted()) return true;
    if (metrics_ != nullptr) metrics_->answer();
    return false;
  }
  static bool is_interrupted() { return Interruption::signal() != 0; }

 private:
  ExecMetrics* const metrics_;
};

}  // namespace npu::cli
