// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/terminal/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace npu::cli {

TerminalSize terminal_size(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col < 2 || size.ws_row < 2) return {};
  return {size.ws_row, size.ws_col};
}

bool can_redraw(int descriptor) {
  const char* const kind = std::getenv("TERM");
  const std::string_view name = kind == nullptr ? "" : kind;
  return ::isatty(descriptor) == 1 && !name.empty() && name != "dumb";
}

bool is_in_foreground(int descriptor) {
  const auto owner = ::tcgetpgrp(descriptor);
  return owner < 0 || owner == ::getpgrp();  // below 0: this session has no say in it
}

}  // namespace npu::cli
