// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tools/cli/terminal/duration_text.hpp"
#include "tools/cli/terminal/terminal.hpp"

namespace npu::cli {

std::string time_text(Picoseconds time) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}};
  const auto picoseconds = static_cast<double>(time.count());
  for (const auto& [unit, name] : kUnits) {
    if (picoseconds >= unit) return fmt::format("{:.3f} {}", picoseconds / unit, name);
  }
  return fmt::format("{:.3f} ns", picoseconds / 1e3);
}

void ProgressState::step(std::string_view what, std::uint64_t done, std::uint64_t total,
                         WallTime now) {
  if (total != total_ || done < done_) began_ = now;
  what_ = what;
  done_ = std::min(done, total);
  total_ = total;
  stepped_ = now;
}

double ProgressState::share() const {
  return has_total() ? static_cast<double>(done_) / static_cast<double>(total_) : -1;
}

unsigned ProgressState::tenths() const {
  return has_total() ? static_cast<unsigned>(share() * 10) : 0;
}

std::string ProgressState::text(Picoseconds simulated, WallTime now) const {
  std::string text = what_;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (!has_total()) {
    add(time_text(simulated) + " simulated");
    const auto seconds = static_cast<double>(now.count()) / 1000;
    if (seconds > 0) {
      const double rate = static_cast<double>(simulated.count()) / seconds;
      add(time_text(Picoseconds(static_cast<std::int64_t>(rate))) + "/s");
    }
    return text;
  }
  add(fmt::format("{} %", static_cast<unsigned>(share() * 100)));
  if (done_ == 0) return text;
  const auto took = static_cast<double>((stepped_ - began_).count());
  const auto left = WallTime(static_cast<long>(took * (1 - share()) / share())) - (now - stepped_);
  // Parts of a run differ: what takes longer than the ones before has no known end.
  if (left.count() > 0) add(duration_text(std::chrono::ceil<std::chrono::seconds>(left)) + " left");
  return text;
}

RunProgress::RunProgress(std::string name, bool silent)
    : name_(std::move(name)),
      silent_(silent),
      terminal_(can_redraw(STDERR_FILENO)),
      start_(std::chrono::steady_clock::now()) {}

WallTime RunProgress::elapsed() const {
  return std::chrono::duration_cast<WallTime>(std::chrono::steady_clock::now() - start_);
}

void RunProgress::step(std::string_view what, std::uint64_t done, std::uint64_t total) {
  const WallTime now = elapsed(), part = state_.began();
  state_.step(what, done, total, now);
  if (state_.began() != part) tenths_ = 0;
  if (terminal_) return tick(simulated_);
  if (silent_ || now - state_.began() < kQuietElsewhere || state_.tenths() <= tenths_) return;
  tenths_ = state_.tenths();
  std::fputs((name_ + ": " + state_.text({}, now) + "\n").c_str(), stderr);
}

void RunProgress::tick(Picoseconds simulated) {
  const WallTime now = elapsed();
  simulated_ = simulated;
  if (!on_terminal() || now < kQuiet) return;
  const std::string text = state_.text(simulated, now), line = name_ + ": " + text;
  line_.show(line.size() < terminal_size(STDERR_FILENO).columns ? line : text);
}

}  // namespace npu::cli
