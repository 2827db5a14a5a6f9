// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/watch/watch.hpp"

#include <unistd.h>

#include <utility>

#include "tools/cli/terminal/terminal.hpp"
#include "workloads/simulator/track_capacities.hpp"

namespace npu::cli {
tl::expected<std::unique_ptr<Watch>, Failure> Watch::open(bool wanted, std::string title) {
  if (!wanted) return nullptr;
  if (::isatty(STDERR_FILENO) != 1) return bad_input("--watch: standard error is no terminal");
  if (!can_redraw(STDERR_FILENO)) {
    return bad_input("--watch: the terminal cannot move its cursor (TERM)");
  }
  return std::unique_ptr<Watch>(new Watch(std::move(title)));
}

Watch::Watch(std::string title) : title_(std::move(title)) {}

void Watch::begin(workloads::TraceSource& source) {
  source_ = &source;
  source.add(activity_);
  screen_.emplace();
  WatchFrame frame;
  frame.title = title_;
  frame.progress = "preparing";
  show(frame);
}

void Watch::end(workloads::TraceSource& source, const workloads::SimulatorView&) {
  source.remove(activity_);
  source_ = nullptr;
  screen_.reset();
}

std::vector<MachineActivity::Unit> Watch::units(const workloads::SimulatorView& simulator) {
  const workloads::TrackCapacities capacities(simulator);
  return activity_.look(
      simulator.simulated_time(),
      [this](std::uint32_t track) { return source_->track_name(track); },
      [&capacities](const std::string& track) { return capacities.of(track); });
}

void Watch::draw(const workloads::SimulatorView& simulator, const ProgressState& progress,
                 WallTime elapsed) {
  constexpr WallTime kShortest{50};  // of which rates say something
  if (!screen_ || elapsed - last_time_ < kShortest) return;
  const double seconds = static_cast<double>((elapsed - last_time_).count()) / 1e3;
  WatchFrame frame;
  frame.title = title_;
  frame.elapsed = elapsed;
  frame.simulated = simulator.simulated_time();
  frame.events = simulator.events();
  const auto passed = static_cast<double>((frame.simulated - last_simulated_).count());
  frame.simulated_rate = Picoseconds(static_cast<std::int64_t>(passed / seconds));
  frame.event_rate = static_cast<double>(frame.events - last_events_) / seconds;
  // Simulated time stands above.
  frame.progress = progress.share() < 0 ? progress.what() : progress.text(frame.simulated, elapsed);
  frame.done = progress.share();
  frame.units = units(simulator);
  frame.faults = activity_.faults();
  frame.queues = activity_.queues();
  frame.slots = activity_.slots();
  frame.commands = activity_.commands();
  frame.entries = activity_.entries();
  frame.blocks = activity_.blocks();
  last_time_ = elapsed;
  last_simulated_ = frame.simulated;
  last_events_ = frame.events;
  show(frame);
}

void Watch::show(const WatchFrame& frame) {
  if (!screen_->is_ours()) return;
  std::string text = "\x1b[H";
  const auto lines = lines_of(frame, terminal_size(STDERR_FILENO));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += (i == 0 ? "" : "\r\n") + lines[i] + "\x1b[K";
  }
  screen_->draw(text + "\x1b[J\x1b[H");
}

}  // namespace npu::cli
