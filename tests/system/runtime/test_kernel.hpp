// SPDX-License-Identifier: Apache-2.0
// What the test kernel does, and its arguments: mode, an address, a value.
#pragma once

#include <cstdint>

namespace npu::test {

enum class KernelMode : std::uint64_t {
  kStore,   // stores the value at the address
  kReturn,  // returns the value
  kHang,    // waits until the word at the address is not 0
  kTrap,    // gives up with the value as its code
  kWild,    // copies from the address into UB
  kBeyond,  // copies from the address to UB, then to the value as an offset in UB
  kMutual,  // waits for others that do the same; value: platform::CrossScope
};

}  // namespace npu::test
