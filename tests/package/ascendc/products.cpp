// SPDX-License-Identifier: Apache-2.0
// C = A B by DataCopy, LoadData, Mmad and Fixpipe: tiles of 48 rows and 80 columns, k in parts of
// 64. Blocks take tiles in turn, or parts of k of each tile, whose products memory adds.
#include "kernel_operator.h"

constexpr uint32_t kRows = 48, kColumns = 80, kDepth = 64, kSide = 16;

template <class T>
class TiledProduct {
 public:
  __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t k, uint32_t n) {
    aGm.SetGlobalBuffer((__gm__ half*)a);
    bGm.SetGlobalBuffer((__gm__ half*)b);
    cGm.SetGlobalBuffer((__gm__ T*)c);
    m_ = m;
    k_ = k;
    n_ = n;
    pipe.InitBuffer(a1Queue, 2, kRows * kDepth * sizeof(half));
    pipe.InitBuffer(b1Queue, 2, kDepth * kColumns * sizeof(half));
    pipe.InitBuffer(a2Queue, 2, kRows * kDepth * sizeof(half));
    pipe.InitBuffer(b2Queue, 2, kDepth * kColumns * sizeof(half));
    pipe.InitBuffer(c1Queue, 1, kRows * kColumns * sizeof(float));
  }
  __aicore__ inline void Process() {
    const uint32_t across = (n_ + kColumns - 1) / kColumns, down = (m_ + kRows - 1) / kRows;
    for (uint32_t tile = AscendC::GetBlockIdx(); tile < across * down;
         tile += AscendC::GetBlockNum()) {
      Tile(tile / across * kRows, tile % across * kColumns, 0, kDepth);
    }
  }
  __aicore__ inline void ProcessParts() {
    const uint32_t first = AscendC::GetBlockIdx() * kDepth;
    if (first >= k_) return;
    AscendC::SetAtomicAdd<T>();
    for (uint32_t row = 0; row < m_; row += kRows) {
      for (uint32_t column = 0; column < n_; column += kColumns) {
        Tile(row, column, first, AscendC::GetBlockNum() * kDepth);
      }
    }
    AscendC::SetAtomicNone();
  }

 private:
  __aicore__ static uint16_t Fractals(uint32_t length) { return (length + kSide - 1) / kSide; }
  __aicore__ static uint32_t Part(uint32_t begin, uint32_t end, uint32_t most) {
    return end - begin < most ? end - begin : most;
  }

  __aicore__ inline void Tile(uint32_t row, uint32_t column, uint32_t first, uint32_t step) {
    const uint32_t m = Part(row, m_, kRows), n = Part(column, n_, kColumns);
    AscendC::LocalTensor<float> c1;
    c1Queue.AllocTensor(c1);
    for (uint32_t depth = first; depth < k_; depth += step) {
      const uint32_t k = Part(depth, k_, kDepth);
      Copy(row, column, depth, m, k, n);
      Split(m, k, n);
      AscendC::LocalTensor<half> a2 = a2Queue.DeQue<half>(), b2 = b2Queue.DeQue<half>();
      AscendC::MmadParams params;
      params.m = m;
      params.n = n;
      params.k = k;
      params.cmatrixInitVal = depth == first;
      AscendC::Mmad(c1, a2, b2, params);
      a2Queue.FreeTensor(a2);
      b2Queue.FreeTensor(b2);
    }
    c1Queue.EnQue(c1);
    c1Queue.DeQue(c1);
    AscendC::FixpipeParamsV220 params;
    params.nSize = n;
    params.mSize = m;
    params.srcStride = Fractals(m) * kSide;
    params.dstStride = n_;
    if (sizeof(T) == 2) params.quantPre = QuantMode_t::F322F16;
    AscendC::Fixpipe(cGm[row * n_ + column], c1, params);
    c1Queue.FreeTensor(c1);
  }

  __aicore__ inline void Copy(uint32_t row, uint32_t column, uint32_t depth, uint32_t m, uint32_t k,
                              uint32_t n) {
    AscendC::LocalTensor<half> a1 = a1Queue.AllocTensor<half>(), b1 = b1Queue.AllocTensor<half>();
    AscendC::Nd2NzParams params;
    params.ndNum = 1;
    params.nValue = m;
    params.dValue = k;
    params.srcDValue = k_;
    params.dstNzC0Stride = Fractals(m) * kSide;
    params.dstNzNStride = 1;
    AscendC::DataCopy(a1, aGm[row * k_ + depth], params);
    params.nValue = k;
    params.dValue = n;
    params.srcDValue = n_;
    params.dstNzC0Stride = Fractals(k) * kSide;
    AscendC::DataCopy(b1, bGm[depth * n_ + column], params);
    a1Queue.EnQue(a1);
    b1Queue.EnQue(b1);
  }

  // A row of fractals of each at a time.
  __aicore__ inline void Split(uint32_t m, uint32_t k, uint32_t n) {
    AscendC::LocalTensor<half> a1 = a1Queue.DeQue<half>(), b1 = b1Queue.DeQue<half>();
    AscendC::LocalTensor<half> a2 = a2Queue.AllocTensor<half>(), b2 = b2Queue.AllocTensor<half>();
    const uint32_t fractal = kSide * kSide;
    AscendC::LoadData2DParams params;
    params.repeatTimes = Fractals(k);
    params.srcStride = Fractals(m);
    for (uint32_t i = 0; i < Fractals(m); ++i) {
      AscendC::LoadData(a2[i * Fractals(k) * fractal], a1[i * fractal], params);
    }
    params.repeatTimes = Fractals(n);
    params.srcStride = Fractals(k);
    params.ifTranspose = true;
    for (uint32_t i = 0; i < Fractals(k); ++i) {
      AscendC::LoadData(b2[i * Fractals(n) * fractal], b1[i * fractal], params);
    }
    a1Queue.FreeTensor(a1);
    b1Queue.FreeTensor(b1);
    a2Queue.EnQue(a2);
    b2Queue.EnQue(b2);
  }

  AscendC::TPipe pipe;
  AscendC::TQue<AscendC::TPosition::A1, 2> a1Queue;
  AscendC::TQue<AscendC::TPosition::B1, 2> b1Queue;
  AscendC::TQue<AscendC::TPosition::A2, 2> a2Queue;
  AscendC::TQue<AscendC::TPosition::B2, 2> b2Queue;
  AscendC::TQue<AscendC::TPosition::CO1, 1> c1Queue;
  AscendC::GlobalTensor<half> aGm, bGm;
  AscendC::GlobalTensor<T> cGm;
  uint32_t m_, k_, n_;
};

extern "C" __global__ __aicore__ void product_float(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m,
                                                    uint32_t k, uint32_t n) {
  TiledProduct<float> op;
  op.Init(a, b, c, m, k, n);
  op.Process();
}
extern "C" __global__ __aicore__ void product_half(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m,
                                                   uint32_t k, uint32_t n) {
  TiledProduct<half> op;
  op.Init(a, b, c, m, k, n);
  op.Process();
}
extern "C" __global__ __aicore__ void product_parts(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m,
                                                    uint32_t k, uint32_t n) {
  TiledProduct<float> op;
  op.Init(a, b, c, m, k, n);
  op.ProcessParts();
}
