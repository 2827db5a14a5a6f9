// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace npu::cli {
namespace {

constexpr const char* kTake = "\x1b[?1049h\x1b[?25l";

}  // namespace

tl::expected<std::unique_ptr<Watch>, Failure> Watch::open(bool wanted, std::string title) {
  if (!wanted) return nullptr;
  if (::isatty(STDERR_FILENO) != 1) return bad_input("--watch: standard error is no terminal");
  const char* const kind = std::getenv("TERM");
  if (kind == nullptr || std::strcmp(kind, "dumb") == 0) {
    return bad_input("--watch: the terminal cannot move its cursor (TERM)");
  }
  return std::unique_ptr<Watch>(new Watch(std::move(title)));
}

Watch::Watch(std::string title) : title_(std::move(title)) {}

Watch::~Watch() {
  close();
}

void Watch::begin(workloads::TraceSource& source) {
  source_ = &source;
  source.add(activity_);
  std::fputs(kTake, stderr);
  drawn_ = true;
}

void Watch::end(workloads::TraceSource& source, const workloads::SimulatorView&) {
  source.remove(activity_);
  source_ = nullptr;
  close();
}

void Watch::close() {
  if (!std::exchange(drawn_, false)) return;
  std::fputs(kRestore, stderr);
  std::fflush(stderr);
}

// Of links their own counters know best when bytes are on the wire.
std::vector<MachineActivity::Unit> Watch::units(const workloads::SimulatorView& simulator) {
  std::map<std::string, std::uint64_t> rates;
  for (const auto& each : simulator.memories()) rates[each.name] = each.peak_bytes_per_second;
  for (const auto& each : simulator.l2s()) rates[each.name] = each.peak_bytes_per_second;
  const Picoseconds time = simulator.simulated_time();
  auto all = activity_.look(
      time, [this](std::uint32_t track) { return source_->track_name(track); },
      [&rates](const std::string& name) {
        const auto found = rates.find(name);
        return found == rates.end() ? 0 : found->second;
      });
  const auto is_link = [](const MachineActivity::Unit& unit) {
    return unit.name.rfind("pci.", 0) == 0 || unit.name.rfind("hccs", 0) == 0;
  };
  all.erase(std::remove_if(all.begin(), all.end(), is_link), all.end());
  const auto share = [](Picoseconds busy, Picoseconds of) {
    return of.count() <= 0 ? 0 : std::min(busy.us() / of.us(), 1.0);
  };
  const auto add = [&](const std::string& name, Picoseconds busy) {
    if (busy.count() == 0) return;
    const Picoseconds before = std::exchange(link_busy_[name], busy);
    all.push_back({name, share(busy - before, time - last_simulated_), share(busy, time)});
  };
  for (const auto& link : simulator.links()) add(link.name, link.busy);
  for (const auto& link : simulator.peer_links()) add(link.name, link.busy);
  MachineActivity::sort(all);
  return all;
}

void Watch::draw(const workloads::SimulatorView& simulator, const ProgressState& progress,
                 WallTime elapsed) {
  constexpr WallTime kShortest{50};  // of which rates say something
  if (source_ == nullptr || elapsed - last_time_ < kShortest) return;
  const double seconds = static_cast<double>((elapsed - last_time_).count()) / 1e3;
  WatchFrame frame;
  frame.title = title_;
  frame.elapsed = elapsed;
  frame.simulated = simulator.simulated_time();
  frame.events = simulator.events();
  const auto passed = static_cast<double>((frame.simulated - last_simulated_).count());
  frame.simulated_rate = Picoseconds(static_cast<std::int64_t>(passed / seconds));
  frame.event_rate = static_cast<double>(frame.events - last_events_) / seconds;
  frame.progress = progress.text(frame.simulated, elapsed);
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
  std::string text = "\x1b[H";
  const auto lines = lines_of(frame, terminal_size(STDERR_FILENO));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += (i == 0 ? "" : "\r\n") + lines[i] + "\x1b[K";
  }
  std::fputs((text + "\x1b[J\x1b[H").c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace npu::cli
