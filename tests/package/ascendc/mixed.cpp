// SPDX-License-Identifier: Apache-2.0
// Cube and vector cores together: block i multiplies A by the i-th B of 32 x 32, then its two
// vector cores take half of the rows each and leave nothing below 0. Launched by the source itself.
#include "mixed.hpp"
#include "kernel_operator.h"

using namespace AscendC;

__global__ __mix__(1, 2) void relu_product(GM_ADDR a, __gm__ half* b, __gm__ float* c,
                                           uint16_t side) {
  const uint32_t elements = side * side;
  GlobalTensor<half> a_all, b_all;
  GlobalTensor<float> c_all;
  a_all.SetGlobalBuffer((__gm__ half*)a);
  if ASCEND_IS_AIC {
    b_all.SetGlobalBuffer(b + elements * GetBlockIdx());
    c_all.SetGlobalBuffer(c + elements * GetBlockIdx());
    LocalMemAllocator<Hardware::L1> l1;
    LocalTensor<half> a1 = l1.Alloc<half>(elements), b1 = l1.Alloc<half>(elements);
    LocalTensor<half> a2 = LocalMemAllocator<Hardware::L0A>().Alloc<half>(elements);
    LocalTensor<half> b2 = LocalMemAllocator<Hardware::L0B>().Alloc<half>(elements);
    LocalTensor<float> c1 = LocalMemAllocator<Hardware::L0C>().Alloc<float>(elements);
    const Nd2NzParams rows{1, side, side, 0, side, side, 1, 0};
    DataCopy(a1, a_all, rows);
    DataCopy(b1, b_all, rows);
    SetFlag<HardEvent::MTE2_MTE1>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_MTE1>(EVENT_ID0);
    const uint8_t across = side / 16;
    for (uint32_t i = 0; i < across; ++i) {
      LoadData(a2[i * side * 16], a1[i * 256], LoadData2DParams{0, across, across, 0, 0, false, 0});
    }
    // A column of fractals at a time: gaps between them.
    for (uint32_t i = 0; i < across; ++i) {
      LoadData(b2[i * 256], b1[i * side * 16],
               LoadData2DParams{0, across, 1, 0, static_cast<uint16_t>(across - 1), true, 0});
    }
    SetFlag<HardEvent::MTE1_M>(EVENT_ID0);
    WaitFlag<HardEvent::MTE1_M>(EVENT_ID0);
    Mmad(c1, a2, b2, MmadParams{side, side, side, 0, false, true});
    SetFlag<HardEvent::M_FIX>(EVENT_ID0);
    WaitFlag<HardEvent::M_FIX>(EVENT_ID0);
    Fixpipe(c_all, c1, FixpipeParamsV220{side, side, side, side, false});
    CrossCoreSetFlag<2, PIPE_FIX>(3);
  }
  if ASCEND_IS_AIV {
    const uint32_t part = elements / 2;
    c_all.SetGlobalBuffer(c + part * GetBlockIdx());
    LocalTensor<float> local = LocalMemAllocator<>().Alloc<float>(part);
    CrossCoreWaitFlag<2>(3);
    DataCopy(local, c_all, part);
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    Relu(local, local, part);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(c_all, local, part);
  }
}

// Whole numbers behind each other, by the scalar unit.
template <int kStep, class T>
__global__ __vector__ void numbers(__gm__ int32_t* to, int8_t first, T count) {
  for (T i = 0; i < count; ++i) to[i] = first + i * kStep;
}

int multiply(uint32_t blocks, void* stream, void* a, void* b, void* c, uint16_t side) {
  return relu_product<<<blocks, nullptr, stream>>>(a, b, c, side);
}
int number(void* stream, int32_t* to, int first, int32_t count) {
  constexpr int kStep = 7;
  if (first < 0) return numbers<kStep, uint16_t><<<1, nullptr, stream>>>(to, first, count);
  return numbers<-3, int32_t><<<1, nullptr, stream>>>(to, first, count);
}
