// SPDX-License-Identifier: Apache-2.0
// One line on the terminal of standard error that changes, and is erased at the end.
#pragma once

#include <string>

namespace npu::cli {

class TerminalLine {
 public:
  ~TerminalLine() { erase(); }
  // Cut to what fits: of a longer one only the last line could be erased. In the background nothing
  // is shown.
  void show(std::string line);
  void erase();

 private:
  std::string shown_;  // to redraw only what changed
};

}  // namespace npu::cli
