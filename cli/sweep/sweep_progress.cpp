// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep/sweep_progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace npu::sweep {
namespace {

constexpr const char* kEraseLine = "\r\x1b[K";

std::string duration_text(std::chrono::seconds time) {
  const auto seconds = time.count();
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

// What fits into one line of the terminal: of a longer one only the last line could be erased.
std::size_t columns() {
  winsize size{};
  constexpr std::size_t kUsual = 80;
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return (known ? size.ws_col : kUsual) - 1;
}

}  // namespace

std::string progress_text(const SweepState& state, std::chrono::seconds elapsed) {
  std::string text = fmt::format("{} of {} done", state.before + state.done, state.total);
  if (state.running > 0) text += fmt::format(", {} running", state.running);
  if (state.failed > 0) text += fmt::format(", {} failed", state.failed);
  if (state.left() > 0 && state.ended() > 0) {
    const auto left = elapsed * static_cast<long>(state.left()) / static_cast<long>(state.ended());
    text += ", " + duration_text(left) + " left";
  }
  return text;
}

SweepProgress::SweepProgress(std::string name, bool quiet)
    : name_(std::move(name)),
      quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()) {}

SweepProgress::~SweepProgress() {
  erase();
}

void SweepProgress::erase() {
  if (!shown_.empty()) std::fputs(kEraseLine, stderr);
  shown_.clear();
}

void SweepProgress::show(const SweepState& state) {
  if (quiet_) return;
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
  std::string line = name_ + ": " + progress_text(state, elapsed);
  if (terminal_) {
    line.resize(std::min(line.size(), columns()));
    if (line == shown_) return;
    std::fputs((kEraseLine + line).c_str(), stderr);
    std::fflush(stderr);
    shown_ = std::move(line);
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
  erase();
  std::fputs((line + "\n").c_str(), stderr);
}

}  // namespace npu::sweep
