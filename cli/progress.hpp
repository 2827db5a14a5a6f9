// SPDX-License-Identifier: Apache-2.0
// One line on a terminal that says how far a run is; nothing where nobody looks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace npu::cli {

class ProgressLine {
 public:
  ProgressLine();   // draws only if standard error is a terminal
  ~ProgressLine();  // removes the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view what, std::uint64_t done, std::uint64_t total);

 private:
  bool terminal_;
  std::string shown_;  // to redraw only what changed
};

}  // namespace npu::cli
