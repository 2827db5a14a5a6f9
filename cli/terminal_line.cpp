// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace npu::cli {
namespace {

constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

void TerminalLine::show(std::string line) {
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

TerminalSize terminal_size(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col < 2 || size.ws_row < 2) return {};
  return {size.ws_row, size.ws_col};
}

}  // namespace npu::cli
