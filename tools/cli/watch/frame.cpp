// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/watch/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace npu::cli {
namespace {

std::string bar(double share, std::size_t width) {
  const double clear = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  const auto full = std::min(width, static_cast<std::size_t>(std::lround(clear)));
  return "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
}

// 12345678 as "12,345,678".
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string rate_text(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.2f} M/s", per_second / 1e6);
  if (per_second >= 1e3) return fmt::format("{:.1f} k/s", per_second / 1e3);
  return fmt::format("{:.0f} /s", per_second);
}

std::string between(const std::string& left, const std::string& right, std::size_t width) {
  const std::size_t space =
      left.size() + right.size() < width ? width - left.size() - right.size() : 1;
  return left + std::string(space, ' ') + right;
}

std::string progress_line(const WatchFrame& frame, std::size_t width) {
  if (frame.done < 0) return frame.progress;
  constexpr std::size_t kWidest = 40, kNarrowest = 4, kEnclosed = 3;
  const std::size_t taken = frame.progress.size() + kEnclosed;
  const std::size_t room = std::min({kWidest, width / 3, width > taken ? width - taken : 0});
  return room < kNarrowest ? frame.progress : bar(frame.done, room) + " " + frame.progress;
}

std::string requests_line(const char* what, const MachineActivity::Requests& requests) {
  return fmt::format("{:13} {} ended, {} waiting", what, grouped(requests.ended),
                     grouped(requests.waiting()));
}

void add_units(const WatchFrame& frame, TerminalSize size, std::vector<std::string>& lines,
               std::size_t room) {
  const std::size_t shown = std::min(room, frame.units.size());
  std::size_t name = 0;
  for (std::size_t i = 0; i < shown; ++i) name = std::max(name, frame.units[i].name.size());
  name = std::max<std::size_t>(std::min<std::size_t>(name, size.columns / 2), 13);
  constexpr std::size_t kFigures = 20;  // behind the name, and what encloses the bar
  const std::size_t width =
      size.columns > name + kFigures + 10 ? size.columns - name - kFigures : 0;
  lines.push_back(fmt::format("{:{}}    now    mean", "busiest units", name));
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& unit = frame.units[i];
    std::string line = fmt::format("{:{}.{}} {:6.1f} % {:5.1f} %", unit.name, name, name,
                                   unit.now * 100, unit.mean * 100);
    if (width > 0) line += " " + bar(unit.now, width);
    lines.push_back(std::move(line));
  }
}

}  // namespace

std::vector<std::string> lines_of(const WatchFrame& frame, TerminalSize size) {
  std::vector<std::string> lines;
  lines.push_back(between(frame.title,
                          fmt::format("{:.1f} s", static_cast<double>(frame.elapsed.count()) / 1e3),
                          size.columns));
  lines.push_back(fmt::format("simulated {}, {}/s", time_text(frame.simulated),
                              time_text(frame.simulated_rate)));
  lines.push_back(
      fmt::format("events    {}, {}", grouped(frame.events), rate_text(frame.event_rate)));
  lines.push_back(progress_line(frame, size.columns));
  lines.push_back(fmt::format("queues {}, slots in use {}, blocks ended {}, faults {}",
                              frame.queues, frame.slots, grouped(frame.blocks),
                              grouped(frame.faults)));
  lines.push_back(requests_line("DMA commands", frame.commands));
  lines.push_back(requests_line("queue entries", frame.entries));
  lines.emplace_back();
  constexpr std::size_t kBelow = 2;  // the heading of the units, and the last line
  const std::size_t rows = size.rows;
  if (rows > lines.size() + kBelow) add_units(frame, size, lines, rows - lines.size() - kBelow);
  const std::string last = "Ctrl-C ends the run with a partial report";
  lines.resize(std::min(lines.size(), rows - 1));
  lines.push_back(last);
  for (auto& line : lines) line.resize(std::min<std::size_t>(line.size(), size.columns));
  return lines;
}

}  // namespace npu::cli
