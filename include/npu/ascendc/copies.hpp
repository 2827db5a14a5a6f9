// SPDX-License-Identifier: Apache-2.0
// Copies between global memory and local buffers, by MTE2 and MTE3, and inside UB. Copies that are
// counted in elements move whole blocks of 32 B, as hardware does: what is left over stays.
#pragma once

#include "npu/ascendc/tensor.hpp"

namespace AscendC {

// Lengths and gaps in blocks of 32 B; for DataCopyPad in bytes.
struct DataCopyParams {
  DataCopyParams() = default;
  DataCopyParams(std::uint16_t count, std::uint16_t length, std::uint16_t source,
                 std::uint16_t destination)
      : blockCount(count), blockLen(length), srcStride(source), dstStride(destination) {}
  std::uint16_t blockCount = 1, blockLen = 0, srcStride = 0, dstStride = 0;
};

// Lengths in bytes; gaps in bytes in global memory, in blocks of 32 B in UB.
struct DataCopyExtParams {
  DataCopyExtParams() = default;
  DataCopyExtParams(std::uint16_t count, std::uint32_t length, std::uint32_t source,
                    std::uint32_t destination, std::uint32_t unused)
      : blockCount(count),
        blockLen(length),
        srcStride(source),
        dstStride(destination),
        rsv(unused) {}
  std::uint16_t blockCount = 1;
  std::uint32_t blockLen = 0, srcStride = 0, dstStride = 0, rsv = 0;
};

// Only without padding elements: what lies behind a row in its last block stays.
template <class T>
struct DataCopyPadExtParams {
  DataCopyPadExtParams() = default;
  DataCopyPadExtParams(bool pads, std::uint8_t left, std::uint8_t right, T value)
      : isPad(pads), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  std::uint8_t leftPadding = 0, rightPadding = 0;
  T paddingValue{};
};
struct DataCopyPadParams {
  DataCopyPadParams() = default;
  DataCopyPadParams(bool pads, std::uint8_t left, std::uint8_t right, std::uint64_t value)
      : isPad(pads), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  std::uint8_t leftPadding = 0, rightPadding = 0;
  std::uint64_t paddingValue = 0;
};

// Rows of a matrix become columns of fractals. Strides of the source in elements, of the
// destination in blocks of 32 B, from matrix to matrix in elements.
struct Nd2NzParams {
  Nd2NzParams() = default;
  Nd2NzParams(std::uint16_t matrices, std::uint16_t rows, std::uint16_t columns,
              std::uint16_t from_matrix, std::uint16_t from_row, std::uint16_t to_column,
              std::uint16_t to_row, std::uint16_t to_matrix)
      : ndNum(matrices),
        nValue(rows),
        dValue(columns),
        srcNdMatrixStride(from_matrix),
        srcDValue(from_row),
        dstNzC0Stride(to_column),
        dstNzNStride(to_row),
        dstNzMatrixStride(to_matrix) {}
  std::uint16_t ndNum = 0, nValue = 0, dValue = 0, srcNdMatrixStride = 0, srcDValue = 0,
                dstNzC0Stride = 0, dstNzNStride = 0, dstNzMatrixStride = 0;
};

}  // namespace AscendC

namespace npu::ascendc {

inline constexpr std::uint32_t kBlock = 32;  // bytes

template <class T>
Local place_of(const AscendC::LocalTensor<T>& tensor) {
  return {buffer_of(tensor.GetPosition()), static_cast<std::uint32_t>(tensor.GetPhyAddr())};
}

struct Rows {
  std::uint32_t count, bytes;
  std::uint64_t global_pitch;
  std::uint32_t local_pitch;
};
inline void copy_in(Local to, std::uint64_t from, const Rows& rows) {
  if (rows.count == 0 || rows.bytes == 0) return;
  platform::CopyIn copy;
  copy.to = to;
  copy.from = from;
  copy.rows = rows.count;
  copy.row_bytes = rows.bytes;
  copy.from_pitch = rows.global_pitch;
  copy.to_pitch = rows.local_pitch;
  issue(copy);
}
inline void copy_out(std::uint64_t to, Local from, const Rows& rows) {
  if (rows.count == 0 || rows.bytes == 0) return;
  platform::CopyOut copy;
  copy.to = to;
  copy.from = from;
  copy.rows = rows.count;
  copy.row_bytes = rows.bytes;
  copy.to_pitch = rows.global_pitch;
  copy.from_pitch = rows.local_pitch;
  issue(copy);
}
template <class T>
Rows whole_blocks(std::uint32_t elements) {
  const auto bytes = static_cast<std::uint32_t>(elements * sizeof(T) / kBlock * kBlock);
  return {1, bytes, bytes, bytes};
}
inline Rows rows_of(const AscendC::DataCopyParams& params, unsigned global_gap,
                    unsigned local_gap) {
  const std::uint32_t bytes = params.blockLen * kBlock;
  return {params.blockCount, bytes, bytes + global_gap * kBlock, bytes + local_gap * kBlock};
}
// Rows of any length, which begin in blocks of their own in UB.
inline Rows padded_rows(std::uint32_t count, std::uint32_t bytes, std::uint32_t global_gap,
                        std::uint32_t local_gap) {
  return {count, bytes, std::uint64_t{bytes} + global_gap,
          aicore::round_up(bytes, kBlock) + local_gap * kBlock};
}

}  // namespace npu::ascendc

namespace AscendC {

template <class T>
void DataCopy(const LocalTensor<T>& to, const GlobalTensor<T>& from, std::uint32_t elements) {
  npu::ascendc::copy_in(npu::ascendc::place_of(to), from.GetPhyAddr().address(),
                        npu::ascendc::whole_blocks<T>(elements));
}
template <class T>
void DataCopy(const GlobalTensor<T>& to, const LocalTensor<T>& from, std::uint32_t elements) {
  npu::ascendc::copy_out(to.GetPhyAddr().address(), npu::ascendc::place_of(from),
                         npu::ascendc::whole_blocks<T>(elements));
}
template <class T>
void DataCopy(const LocalTensor<T>& to, const GlobalTensor<T>& from, const DataCopyParams& params) {
  npu::ascendc::copy_in(npu::ascendc::place_of(to), from.GetPhyAddr().address(),
                        npu::ascendc::rows_of(params, params.srcStride, params.dstStride));
}
template <class T>
void DataCopy(const GlobalTensor<T>& to, const LocalTensor<T>& from, const DataCopyParams& params) {
  npu::ascendc::copy_out(to.GetPhyAddr().address(), npu::ascendc::place_of(from),
                         npu::ascendc::rows_of(params, params.dstStride, params.srcStride));
}
// In UB, by the vector unit.
template <class T>
void DataCopy(const LocalTensor<T>& to, const LocalTensor<T>& from, std::uint32_t elements) {
  npu::platform::Vector copy;
  copy.op = npu::platform::VectorOp::kCopy;
  copy.type = npu::ascendc::DataType::kInt8;
  copy.to = npu::ascendc::in_ub(to);
  copy.a = npu::ascendc::in_ub(from);
  copy.count = npu::ascendc::whole_blocks<T>(elements).bytes;
  if (copy.count != 0) npu::ascendc::issue(copy);
}

// To L1. One instruction for each matrix, and one more for columns beyond whole blocks.
template <class T>
void DataCopy(const LocalTensor<T>& to, const GlobalTensor<T>& from, const Nd2NzParams& params) {
  using npu::ascendc::kBlock;
  const npu::ascendc::Local first{npu::ascendc::LocalBuffer::kL1,
                                  npu::ascendc::offset_in(to, npu::ascendc::LocalBuffer::kL1)};
  if (params.dstNzNStride != 1) npu::ascendc::refuse(npu::ascendc::Refusal::kNotModelled);
  const auto row = static_cast<std::uint32_t>(params.dValue * sizeof(T));
  const std::uint32_t whole = row / kBlock * kBlock;
  const std::uint64_t pitch = params.srcDValue * sizeof(T);
  for (std::uint32_t matrix = 0; matrix < params.ndNum; ++matrix) {
    npu::platform::CopyIn copy;
    copy.to = first;
    copy.to.offset += static_cast<std::uint32_t>(matrix * params.dstNzMatrixStride * sizeof(T));
    copy.from = from[std::uint64_t{matrix} * params.srcNdMatrixStride].GetPhyAddr().address();
    copy.rows = params.nValue;
    copy.row_bytes = whole;
    copy.from_pitch = pitch;
    copy.to_pitch = params.dstNzC0Stride * kBlock;
    copy.fractals = true;
    if (whole != 0 && copy.rows != 0) npu::ascendc::issue(copy);
    npu::ascendc::Local tail = copy.to;
    tail.offset += whole / kBlock * params.dstNzC0Stride * kBlock;
    npu::ascendc::copy_in(tail, copy.from + whole, {params.nValue, row - whole, pitch, kBlock});
  }
}

// Rows of any length. `pad` may say that nothing is padded, no more.
template <class T>
void DataCopyPad(const LocalTensor<T>& to, const GlobalTensor<T>& from,
                 const DataCopyExtParams& params, const DataCopyPadExtParams<T>& pad) {
  if (pad.isPad && (pad.leftPadding != 0 || pad.rightPadding != 0)) {
    npu::ascendc::refuse(npu::ascendc::Refusal::kNotModelled);
  }
  npu::ascendc::copy_in(npu::ascendc::place_of(to), from.GetPhyAddr().address(),
                        npu::ascendc::padded_rows(params.blockCount, params.blockLen,
                                                  params.srcStride, params.dstStride));
}
template <class T>
void DataCopyPad(const GlobalTensor<T>& to, const LocalTensor<T>& from,
                 const DataCopyExtParams& params) {
  npu::ascendc::copy_out(to.GetPhyAddr().address(), npu::ascendc::place_of(from),
                         npu::ascendc::padded_rows(params.blockCount, params.blockLen,
                                                   params.dstStride, params.srcStride));
}
template <class T>
void DataCopyPad(const LocalTensor<T>& to, const GlobalTensor<T>& from,
                 const DataCopyParams& params, const DataCopyPadParams& pad) {
  const DataCopyExtParams all{params.blockCount, params.blockLen, params.srcStride,
                              params.dstStride, 0};
  DataCopyPad(to, from, all,
              DataCopyPadExtParams<T>{pad.isPad, pad.leftPadding, pad.rightPadding, T{}});
}
template <class T>
void DataCopyPad(const GlobalTensor<T>& to, const LocalTensor<T>& from,
                 const DataCopyParams& params) {
  DataCopyPad(
      to, from,
      DataCopyExtParams{params.blockCount, params.blockLen, params.srcStride, params.dstStride, 0});
}

}  // namespace AscendC
