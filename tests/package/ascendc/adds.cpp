// SPDX-License-Identifier: Apache-2.0
// Sums of vectors by queues with two tensors each, in tiles; TYPE is the element's type.
#include "kernel_operator.h"

template <class T>
class TiledSum {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total, uint32_t tile) {
    const uint32_t part = total / AscendC::GetBlockNum();
    const uint32_t begin = part * AscendC::GetBlockIdx();
    xGm.SetGlobalBuffer((__gm__ T*)x + begin, part);
    yGm.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y) + begin, part);
    zGm.SetGlobalBuffer((__gm__ T*)z + begin, part);
    pipe.InitBuffer(inX, 2, tile * sizeof(T));
    pipe.InitBuffer(inY, 2, tile * sizeof(T));
    pipe.InitBuffer(outZ, 2, tile * sizeof(T));
    length = part;
    step = tile;
  }
  __aicore__ inline void Process() {
    for (uint32_t at = 0; at < length; at += step) {
      const uint32_t count = length - at < step ? length - at : step;
      CopyIn(at, count);
      Compute(count);
      CopyOut(at, count);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<T> x = inX.template AllocTensor<T>();
    AscendC::LocalTensor<T> y = inY.template AllocTensor<T>();
    AscendC::DataCopy(x, xGm[at], count);
    AscendC::DataCopy(y, yGm[at], count);
    inX.EnQue(x);
    inY.EnQue(y);
  }
  __aicore__ inline void Compute(uint32_t count) {
    AscendC::LocalTensor<T> x = inX.template DeQue<T>();
    AscendC::LocalTensor<T> y = inY.template DeQue<T>();
    AscendC::LocalTensor<T> z = outZ.template AllocTensor<T>();
    AscendC::Add(z, x, y, count);
    outZ.template EnQue<T>(z);
    inX.FreeTensor(x);
    inY.FreeTensor(y);
  }
  __aicore__ inline void CopyOut(uint32_t at, uint32_t count) {
    AscendC::LocalTensor<T> z = outZ.template DeQue<T>();
    AscendC::DataCopy(zGm[at], z, count);
    outZ.FreeTensor(z);
  }

  AscendC::TPipe pipe;
  AscendC::TQue<AscendC::QuePosition::VECIN, 2> inX, inY;
  AscendC::TQue<AscendC::QuePosition::VECOUT, 2> outZ;
  AscendC::GlobalTensor<T> xGm, yGm, zGm;
  uint32_t length, step;
};

extern "C" __global__ __aicore__ void add_half(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total,
                                               uint32_t tile) {
  TiledSum<half> op;
  op.Init(x, y, z, total, tile);
  op.Process();
}
extern "C" __global__ __aicore__ void add_float(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total,
                                                uint32_t tile) {
  TiledSum<float> op;
  op.Init(x, y, z, total, tile);
  op.Process();
}
extern "C" __global__ __aicore__ void add_int(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total,
                                              uint32_t tile) {
  TiledSum<int32_t> op;
  op.Init(x, y, z, total, tile);
  op.Process();
}
