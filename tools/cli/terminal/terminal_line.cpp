// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/terminal/terminal_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tools/cli/terminal/terminal.hpp"

namespace npu::cli {
namespace {

constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

void TerminalLine::show(std::string line) {
  if (!is_in_foreground(STDERR_FILENO)) {
    shown_.clear();  // what stands on the line now is somebody else's
    return;
  }
  line.resize(std::min<std::size_t>(line.size(), terminal_size(STDERR_FILENO).columns - 1));
  if (line == shown_) return;
  std::fputs((kEraseLine + line).c_str(), stderr);
  std::fflush(stderr);
  shown_ = std::move(line);
}

void TerminalLine::erase() {
  if (!shown_.empty()) std::fputs(kEraseLine, stderr);
  shown_.clear();
}

}  // namespace npu::cli
