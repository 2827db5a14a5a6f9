// SPDX-License-Identifier: Apache-2.0
// Kernels without queues: static tensors and flags, rows of any length, and the scalar unit. With
// NO_WAIT the vector unit does not wait for the copies that it needs.
#include "kernel_operator.h"

using namespace AscendC;

// y = sqrt(|2 x - 1|) where that is above 1, else max(x, 0); sums[block] = the sum of y.
extern "C" __global__ __vector__ void chain(__gm__ float* x, __gm__ float* y, __gm__ float* sums,
                                            uint32_t count) {
  InitSocState();
  GlobalTensor<float> in, out, total;
  in.SetGlobalBuffer(x + block_idx * count, count);
  out.SetGlobalBuffer(y + block_idx * count, count);
  total.SetGlobalBuffer(sums + block_idx * 8);
  LocalMemAllocator<Hardware::UB> ub;
  LocalTensor<float> a = ub.Alloc<float>(count), b = ub.Alloc<float>(count);
  LocalTensor<uint8_t> mask = ub.Alloc<uint8_t>(count);
  LocalTensor<float> sum = ub.Alloc<float, 8>();
  DataCopy(a, in, count);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
#ifndef NO_WAIT
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
#endif
  Muls(b, a, 2.0f, count);
  Adds(b, b, -1, count);
  Abs(b, b, count);
  Sqrt(b, b, count);
  Relu(a, a, count);
  CompareScalar(mask, b, 1.0f, CMPMODE::GT, count);
  Select(b, mask, b, a, SELMODE::VSEL_TENSOR_TENSOR_MODE, count);
  Duplicate(sum, 0.0f, 8);
  ReduceSum(sum, b, a, count);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID1);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID1);
  DataCopy(out, b, count);
  DataCopy(total, sum, 8);
  PipeBarrier<PIPE_ALL>();
#ifdef NO_WAIT
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  PipeBarrier<PIPE_ALL>();
#endif
}

// Rows of `length` int32 of x, plus 5, behind each other in y. Then, by the scalar unit, z = x[0] +
// y[1].
extern "C" __global__ __aicore__ void rows(GM_ADDR x, GM_ADDR y, __gm__ int32_t* z, uint16_t rows,
                                           uint32_t length, uint32_t pitch) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  const uint32_t padded = (length + 7) / 8 * 8;
  pipe.InitBuffer(buffer, rows * padded * sizeof(int32_t));
  LocalTensor<int32_t> local = buffer.Get<int32_t>();
  Duplicate(local, 0, rows * padded);  // else what lies between rows is as it was
  const TEventID made = pipe.AllocEventID<HardEvent::V_MTE2>();
  SetFlag<HardEvent::V_MTE2>(made);
  WaitFlag<HardEvent::V_MTE2>(made);
  pipe.ReleaseEventID<HardEvent::V_MTE2>(made);
  GlobalTensor<int32_t> in, out;
  in.SetGlobalBuffer((__gm__ int32_t*)x);
  out.SetGlobalBuffer((__gm__ int32_t*)y);
  const uint32_t bytes = length * sizeof(int32_t);
  DataCopyPad(local, in,
              DataCopyExtParams{rows, bytes,
                                static_cast<uint32_t>((pitch - length) * sizeof(int32_t)), 0, 0},
              DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(local, local, 5, rows * padded);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopyPad(out, local, DataCopyExtParams{rows, bytes, 0, 0, 0});
  SetFlag<HardEvent::V_S>(EVENT_ID0);
  WaitFlag<HardEvent::V_S>(EVENT_ID0);
  *z = in.GetValue(0) + local.GetValue(1);
  for (int i = 1; i < 4; ++i) z[i] = z[i - 1] + ((__gm__ int32_t*)x)[i];
}
