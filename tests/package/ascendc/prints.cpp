// SPDX-License-Identifier: Apache-2.0
// Kernels that print, and one that ends itself.
#include "prints.hpp"
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void say(__gm__ int32_t* to, int32_t value, half real) {
  const int32_t block = block_idx;
  to[block * 16] = value;
  AscendC::printf("block %d: %5.2f|%-4d|%*d|%u %x %s%%%c\n", block, real, value, 4, value, -1, 255,
                  "all", 'q');
  AscendC::PRINTF("%lld %d\n", int64_t{-5000000000}, to[block * 16]);
}

__global__ __vector__ void repeat(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) AscendC::printf("a line of thirty-two characters\n");
}

__global__ __vector__ void end_itself(__gm__ int32_t* to) {
  to[0] = 1;
  asm volatile("trap");
}

__global__ __vector__ void note(__gm__ int32_t* to, int32_t value) {
  to[0] = value;
}

int say_it(uint32_t blocks, void* stream, int32_t* to, int32_t value) {
  return static_cast<int>(say<<<blocks, nullptr, stream>>>(to, value, 2.25F));
}
int say_often(void* stream, uint32_t count) {
  return repeat<<<1, nullptr, stream>>>(count);
}
int say_nothing(void* stream, int32_t* to, int32_t value) {
  return note<<<1, nullptr, stream>>>(to, value);
}
int fail(void* stream, int32_t* to) {
  return end_itself<<<1, nullptr, stream>>>(to);
}
