// SPDX-License-Identifier: Apache-2.0
// The terminal that a descriptor may be.
#pragma once

namespace npu::cli {

struct TerminalSize {
  unsigned rows = 24;
  unsigned columns = 80;
};
// Of the terminal behind `descriptor`, or the usual one.
TerminalSize terminal_size(int descriptor);

// It is a terminal that can erase a line and move its cursor, as TERM says.
bool can_redraw(int descriptor);

// Nobody else has the terminal now: not a shell, say, that has put this process into the
// background.
bool is_in_foreground(int descriptor);

}  // namespace npu::cli
