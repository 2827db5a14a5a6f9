// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/sweep_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "tools/cli/terminal/duration_text.hpp"
#include "tools/cli/terminal/terminal.hpp"

namespace npu::sweep {

std::string progress_text(const SweepState& state, std::chrono::seconds elapsed) {
  std::string text = fmt::format("{} of {} done", state.before + state.done, state.total);
  if (state.running > 0) text += fmt::format(", {} running", state.running);
  if (state.failed > 0) text += fmt::format(", {} failed", state.failed);
  if (state.left() > 0 && state.ended() > 0) {
    const auto left = elapsed * static_cast<long>(state.left()) / static_cast<long>(state.ended());
    text += ", " + cli::duration_text(left) + " left";
  }
  return text;
}

SweepProgress::SweepProgress(std::string name, bool quiet)
    : name_(std::move(name)),
      quiet_(quiet),
      terminal_(cli::can_redraw(STDERR_FILENO)),
      start_(std::chrono::steady_clock::now()) {}

void SweepProgress::show(const SweepState& state) {
  if (quiet_) return;
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
  std::string line = name_ + ": " + progress_text(state, elapsed);
  if (terminal_) {
    line_.show(std::move(line));
    return;
  }
  const std::size_t all = state.total - state.before;
  const std::size_t tenths = all == 0 ? 0 : state.ended() * 10 / all;
  if (tenths == tenths_) return;
  tenths_ = tenths;
  std::fputs((line + "\n").c_str(), stderr);
}

void SweepProgress::say(const std::string& line) {
  if (quiet_) return;
  line_.erase();
  std::fputs((line + "\n").c_str(), stderr);
}

}  // namespace npu::sweep
