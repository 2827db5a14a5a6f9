// SPDX-License-Identifier: Apache-2.0
// Where work was submitted from, or memory accessed.
#pragma once

#include <cstdint>

namespace npu::races {

struct Site {
  std::uint32_t place = 0;   // as its owner numbers them; 0: npusim's own, not looked at
  std::uint32_t number = 0;  // its owner's, of the call for example
  std::uint32_t thread = 0;  // its owner's: places are the same for all threads
};

}  // namespace npu::races
