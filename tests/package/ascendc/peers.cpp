// SPDX-License-Identifier: Apache-2.0
// Kernels that write to memory, by the scalar unit and by a copy, whichever card has it.
#include "peers.hpp"
#include "kernel_operator.h"

using AscendC::GlobalTensor;

extern "C" __global__ __aicore__ void put(__gm__ int32_t* to, int32_t value) {
  to[0] = value;
}

__global__ __vector__ void copy(__gm__ int32_t* to, __gm__ int32_t* from) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, kCopied * sizeof(int32_t));
  auto local = buffer.Get<int32_t>();
  GlobalTensor<int32_t> source, target;
  source.SetGlobalBuffer(from, kCopied);
  target.SetGlobalBuffer(to, kCopied);
  AscendC::DataCopy(local, source, kCopied);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::DataCopy(target, local, kCopied);
}

int put_value(void* stream, int32_t* to, int32_t value) {
  return static_cast<int>(put<<<1, nullptr, stream>>>(to, value));
}
int copy_values(void* stream, int32_t* to, int32_t* from) {
  return static_cast<int>(copy<<<1, nullptr, stream>>>(to, from));
}
