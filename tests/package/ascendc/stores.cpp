// SPDX-License-Identifier: Apache-2.0
// A store of the scalar unit for each block, in a line of its own.
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __vector__ void store(GM_ADDR to) {
  __gm__ uint32_t* const words = (__gm__ uint32_t*)to;
  const uint32_t block = GetBlockIdx();
  words[block * 16] = 100 + block;
}
