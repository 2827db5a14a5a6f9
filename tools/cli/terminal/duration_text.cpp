// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/terminal/duration_text.hpp"

#include <fmt/format.h>

namespace npu::cli {

std::string duration_text(std::chrono::seconds time) {
  const auto seconds = time.count();
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

}  // namespace npu::cli
