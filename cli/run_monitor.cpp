// SPDX-License-Identifier: Apache-2.0
#include "cli/run_monitor.hpp"

namespace npu::cli {
namespace {

constexpr WallTime kRedraw{200};

}  // namespace

RunMonitor::RunMonitor(const std::string& name, Watch* watch)
    : progress_(name, watch != nullptr), watch_(watch) {
  if (watch_ != nullptr) Interruption::last_words(Watch::kRestore);
  if (watch_ != nullptr || progress_.on_terminal()) {
    ticker_.emplace(Interruption::raised(), kRedraw);
  }
}

bool RunMonitor::look(workloads::SimulatorView& simulator) {
  Interruption::raised() = false;
  ended_by_ = Interruption::signal();
  if (ended_by_ != 0) return true;
  if (watch_ != nullptr) {
    watch_->draw(simulator, progress_.state(), progress_.elapsed());
  } else {
    progress_.tick(simulator.simulated_time());
  }
  return false;
}

void RunMonitor::step(std::string_view what, std::uint64_t done, std::uint64_t total) {
  progress_.step(what, done, total);
}

}  // namespace npu::cli
