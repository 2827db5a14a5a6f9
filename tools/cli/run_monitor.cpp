// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/run_monitor.hpp"

#include <unistd.h>

#include "npu/base/write_all.hpp"

namespace npu::cli {
namespace {

constexpr WallTime kRedraw{200};

// To whoever waits for a run that takes no notice of his signal.
void explain_delay() {
  constexpr unsigned kTimeout = 5;  // ticks
  constexpr std::string_view kText =
      "\r\x1b[Knpusim: the run ends when the host's own computation does; Ctrl-C again ends it at "
      "once\n";
  static unsigned ticks = 0;
  if (Interruption::signal() == 0 || ++ticks != kTimeout) return;
  write_all(STDERR_FILENO, {reinterpret_cast<const std::byte*>(kText.data()), kText.size()});
}

}  // namespace

RunMonitor::RunMonitor(const std::string& name, Watch* watch)
    : progress_(name, watch != nullptr), watch_(watch) {
  Interruption::take_signals();
  if (watch_ != nullptr || progress_.on_terminal()) {
    ticker_.emplace(kRedraw, [] {
      Interruption::raised() = true;
      explain_delay();
    });
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

void RunMonitor::finish() {
  ticker_.reset();
  progress_.erase();
}

void RunMonitor::step(std::string_view what, std::uint64_t done, std::uint64_t total) {
  progress_.step(what, done, total);
}

}  // namespace npu::cli
