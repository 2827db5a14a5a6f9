// SPDX-License-Identifier: Apache-2.0
// One line on the terminal of standard error that changes, and is erased at the end.
#pragma once

#include <string>

namespace npu::cli {

class TerminalLine {
 public:
  ~TerminalLine() { erase(); }
  // Cut to what fits: of a longer one only the last line could be erased.
  void show(std::string line);
  void erase();

 private:
  std::string shown_;  // to redraw only what changed
};

struct TerminalSize {
  unsigned rows = 24;
  unsigned columns = 80;
};
// Of the terminal behind `descriptor`, or the usual one.
TerminalSize terminal_size(int descriptor);

}  // namespace npu::cli
