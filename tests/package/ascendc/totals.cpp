// SPDX-License-Identifier: Apache-2.0
// Blocks that store to the same elements: memory adds, or keeps the larger or the smaller one.
#include "kernel_operator.h"

constexpr std::uint32_t kCount = 512;
enum How : std::uint32_t { kSum, kMost, kLeast };

// Each block's own numbers; then those of block 0 once more, which replace what is there.
template <class T>
__aicore__ inline void store_all(GM_ADDR from, GM_ADDR to, GM_ADDR last, std::uint32_t how) {
  AscendC::GlobalTensor<T> in, out, plain;
  in.SetGlobalBuffer((__gm__ T*)from + AscendC::GetBlockIdx() * kCount, kCount);
  out.SetGlobalBuffer((__gm__ T*)to, kCount);
  plain.SetGlobalBuffer((__gm__ T*)last, kCount);
  AscendC::TPipe pipe;
  AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, kCount * sizeof(T));
  AscendC::LocalTensor<T> numbers = queue.template AllocTensor<T>();
  AscendC::DataCopy(numbers, in, kCount);
  queue.EnQue(numbers);
  numbers = queue.template DeQue<T>();
  if (how == kSum) AscendC::SetAtomicAdd<T>();
  if (how == kMost) AscendC::SetAtomicMax<T>();
  if (how == kLeast) AscendC::SetAtomicMin<T>();
  AscendC::DataCopy(out, numbers, kCount);
  AscendC::SetAtomicNone();
  if (AscendC::GetBlockIdx() == 0) AscendC::DataCopy(plain, numbers, kCount);
  queue.FreeTensor(numbers);
}

extern "C" __global__ __vector__ void total_float(GM_ADDR from, GM_ADDR to, GM_ADDR last,
                                                  std::uint32_t how) {
  store_all<float>(from, to, last, how);
}
extern "C" __global__ __vector__ void total_int32(GM_ADDR from, GM_ADDR to, GM_ADDR last,
                                                  std::uint32_t how) {
  store_all<std::int32_t>(from, to, last, how);
}
extern "C" __global__ __vector__ void total_int16(GM_ADDR from, GM_ADDR to, GM_ADDR last,
                                                  std::uint32_t how) {
  store_all<std::int16_t>(from, to, last, how);
}
extern "C" __global__ __vector__ void total_int8(GM_ADDR from, GM_ADDR to, GM_ADDR last,
                                                 std::uint32_t how) {
  store_all<std::int8_t>(from, to, last, how);
}

// It leaves without SetAtomicNone(): the next block of the core stores as ever.
extern "C" __global__ __vector__ void left_on(GM_ADDR from, GM_ADDR to) {
  AscendC::SetAtomicAdd<float>();
}

// A float is stored to an address that is no multiple of 4.
extern "C" __global__ __vector__ void odd(GM_ADDR from, GM_ADDR to) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 32);
  AscendC::GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)(to + 2), 8);
  AscendC::SetAtomicAdd<float>();
  AscendC::DataCopy(out, buffer.Get<float>(), 8);
}
