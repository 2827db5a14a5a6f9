// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace npu::cli {
namespace {

constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (!shown_.empty()) std::fputs(kEraseLine, stderr);
}

void ProgressLine::show(std::string_view what, std::uint64_t done, std::uint64_t total) {
  if (!terminal_) return;
  const std::uint64_t percent = total == 0 ? 100 : done / (total / 100 + 1);
  const std::uint64_t exact = total < 100 && total > 0 ? done * 100 / total : percent;
  std::string line = fmt::format("{} {} %", what, exact);
  if (line == shown_) return;
  std::fputs((kEraseLine + line).c_str(), stderr);
  std::fflush(stderr);
  shown_ = std::move(line);
}

}  // namespace npu::cli
