// SPDX-License-Identifier: Apache-2.0
// Matrices from L1 to L0, their product, and what becomes of it. They lie in fractals of 16 rows of
// 32 B (512 B): in columns of fractals in L1, A in rows of fractals in L0A, B in rows of transposed
// ones in L0B, C in columns of fractals of 16 x 16 in L0C.
#pragma once

#include "npu/ascendc/copies.hpp"

namespace AscendC {

// In fractals.
struct LoadData2DParams {
  LoadData2DParams() = default;
  LoadData2DParams(std::uint16_t first, std::uint8_t count, std::uint16_t stride,
                   std::uint8_t unused, std::uint16_t gap, bool transpose, std::uint8_t mode)
      : startIndex(first),
        dstGap(gap),
        srcStride(stride),
        ifTranspose(transpose),
        repeatTimes(count),
        sid(unused),
        addrMode(mode) {}
  std::uint16_t startIndex = 0, dstGap = 0, srcStride = 0;
  bool ifTranspose = false;
  std::uint8_t repeatTimes = 0, sid = 0, addrMode = 0;
};
using LoadData2dParams = LoadData2DParams;

struct MmadParams {
  MmadParams() = default;
  MmadParams(std::uint16_t rows, std::uint16_t columns, std::uint16_t depth, std::uint8_t unit,
             bool source, bool zero)
      : m(rows),
        n(columns),
        k(depth),
        unitFlag(unit),
        cmatrixSource(source),
        cmatrixInitVal(zero) {}
  std::uint16_t m = 0, n = 0, k = 0;
  bool isBias = false;  // C goes on, as with cmatrixInitVal = false
  std::uint8_t unitFlag = 0;
  bool kDirectionAlign = false;
  bool cmatrixSource = false;
  bool cmatrixInitVal = true;  // C begins with zeros
};

// srcStride in rows of 16 elements, dstStride in elements.
struct FixpipeParamsV220 {
  FixpipeParamsV220() = default;
  FixpipeParamsV220(std::uint16_t columns, std::uint16_t rows, std::uint16_t source,
                    std::uint32_t destination, bool relu)
      : nSize(columns), mSize(rows), srcStride(source), dstStride(destination), reluEn(relu) {}
  FixpipeParamsV220(std::uint16_t columns, std::uint16_t rows, std::uint16_t source,
                    std::uint32_t destination, bool relu, QuantMode_t quant, std::int64_t scale,
                    std::uint16_t matrices, std::uint16_t source_matrix,
                    std::uint16_t destination_matrix, std::uint8_t unit)
      : nSize(columns),
        mSize(rows),
        srcStride(source),
        dstStride(destination),
        quantPre(quant),
        deqScalar(static_cast<std::uint64_t>(scale)),
        ndNum(matrices),
        srcNdStride(source_matrix),
        dstNdStride(destination_matrix),
        reluEn(relu),
        unitFlag(unit) {}
  std::uint16_t nSize = 0, mSize = 0, srcStride = 0;
  std::uint32_t dstStride = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  std::uint64_t deqScalar = 0;
  std::uint16_t ndNum = 1, srcNdStride = 0, dstNdStride = 0;
  bool reluEn = false;
  std::uint8_t unitFlag = 0;
};

// Fractals from L1 to L0A or L0B. Without gaps it is one instruction, else one each.
template <class T>
void LoadData(const LocalTensor<T>& to, const LocalTensor<T>& from,
              const LoadData2DParams& params) {
  static_assert(npu::ascendc::type_of<T>() != npu::ascendc::kOnlyBytes);
  constexpr std::uint32_t kFractal = 512;
  npu::platform::LoadL0 load;
  load.to = npu::ascendc::place_of(to);
  load.from =
      npu::ascendc::offset_in(from, npu::ascendc::LocalBuffer::kL1) + params.startIndex * kFractal;
  load.rows = params.repeatTimes;
  load.from_pitch = params.srcStride * kFractal;
  load.type = npu::ascendc::type_of<T>();
  load.transpose = params.ifTranspose;
  load.fractals = true;
  if (params.addrMode != 0) npu::ascendc::refuse(npu::ascendc::Refusal::kNotModelled);
  if (params.dstGap == 0 || load.rows <= 1) return npu::ascendc::issue(load);
  load.rows = 1;
  for (std::uint32_t i = 0; i < params.repeatTimes; ++i) {
    npu::ascendc::issue(load);
    load.from += load.from_pitch;
    load.to.offset += (params.dstGap + 1U) * kFractal;
  }
}

template <class C, class A, class B>
void Mmad(const LocalTensor<C>& c, const LocalTensor<A>& a, const LocalTensor<B>& b,
          const MmadParams& params) {
  static_assert(std::is_same_v<A, B>, "A and B have one type");
  static_assert(npu::ascendc::type_of<A>() == npu::ascendc::DataType::kInt8
                    ? std::is_same_v<C, std::int32_t>
                    : std::is_same_v<C, float>,
                "C is float, of int8_t int32_t");
  npu::platform::Mmad product;
  product.c = npu::ascendc::offset_in(c, npu::ascendc::LocalBuffer::kL0c);
  product.a = npu::ascendc::offset_in(a, npu::ascendc::LocalBuffer::kL0a);
  product.b = npu::ascendc::offset_in(b, npu::ascendc::LocalBuffer::kL0b);
  product.m = params.m;
  product.k = params.k;
  product.n = params.n;
  product.type = npu::ascendc::type_of<A>();
  product.accumulate = params.isBias || !params.cmatrixInitVal;
  product.fractals = true;
  if (params.cmatrixSource || params.unitFlag != 0 || params.kDirectionAlign) {
    npu::ascendc::refuse(npu::ascendc::Refusal::kNotModelled);
  }
  npu::ascendc::issue(product);
}

// C to global memory, row by row.
template <class T, class C>
void Fixpipe(const GlobalTensor<T>& to, const LocalTensor<C>& from,
             const FixpipeParamsV220& params) {
  npu::platform::Fixpipe result;
  result.to = to.GetPhyAddr().address();
  result.from = npu::ascendc::offset_in(from, npu::ascendc::LocalBuffer::kL0c);
  result.m = params.mSize;
  result.n = params.nSize;
  result.to_pitch = params.dstStride * sizeof(T);
  result.type = npu::ascendc::type_of<C>();
  result.to_type = npu::ascendc::type_of<T>();
  result.column_pitch = params.srcStride * 64U;
  const bool scaled = params.quantPre == QuantMode_t::DEQF16;
  const bool known = params.quantPre == QuantMode_t::F322F16    ? std::is_same_v<T, half>
                     : params.quantPre == QuantMode_t::F322BF16 ? std::is_same_v<T, bfloat16_t>
                     : scaled                                   ? std::is_same_v<T, half>
                                                                : std::is_same_v<T, C>;
  if (!known || params.reluEn || params.unitFlag != 0) {
    npu::ascendc::refuse(npu::ascendc::Refusal::kNotModelled);
  }
  if (scaled) {
    const auto bits = static_cast<std::uint32_t>(params.deqScalar);
    result.scaling = npu::platform::FixpipeScale::kOne;
    std::memcpy(&result.scale, &bits, sizeof bits);
  }
  for (std::uint32_t matrix = 0; matrix < params.ndNum; ++matrix) {
    npu::ascendc::issue(result);
    result.from += params.srcNdStride * 1024U;
    result.to += params.dstNdStride * sizeof(T);
  }
}

}  // namespace AscendC
