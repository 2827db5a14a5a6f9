// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/arithmetic/fractals.hpp"

#include <algorithm>
#include <cstring>

#include "model/aicore/arithmetic/matrix.hpp"
#include "model/aicore/instruction_checks.hpp"
#include "npu/base/checked.hpp"

namespace npu::model::arithmetic {
namespace {

constexpr Bytes kSide = 16;
constexpr Bytes kFractalRow = 32;              // bytes
constexpr Bytes kResultRow = kSide * 4;        // of C
constexpr Bytes kResult = kSide * kResultRow;  // a fractal of C
struct alignas(64) Aligned {
  unsigned char bytes[64];
};

// Fractals in rows, each a part of 32 B of 16 lines: lines one after another, at `pitch`.
void lines_of(std::uint32_t lines, Bytes pitch, const unsigned char* from, unsigned char* to) {
  const Bytes across = pitch / kFractalRow;
  for (std::uint32_t line = 0; line < lines; ++line) {
    const unsigned char* in =
        from + line / kSide * across * kFractalBytes + line % kSide * kFractalRow;
    for (Bytes i = 0; i < across; ++i) {
      std::memcpy(to + i * kFractalRow, in + i * kFractalBytes, kFractalRow);
    }
    to += pitch;
  }
}

// B as rows of k: fractals in rows along k, each 16 columns of B by 32 B of k.
void rows_of_b(const platform::Mmad& mmad, const unsigned char* from, unsigned char* to) {
  const Bytes element = std::max<Bytes>(bytes_of(mmad.type), 1), depth = kFractalRow / element;
  const Bytes across = ceil_div(Bytes{mmad.n}, kSide), pitch = l0_pitch(mmad.n, mmad.type);
  for (Bytes k = 0; k < mmad.k; k += depth) {
    const auto rows = static_cast<std::uint32_t>(std::min<Bytes>(depth, mmad.k - k));
    for (Bytes column = 0; column < across; ++column) {
      const auto columns = static_cast<std::uint32_t>(std::min(kSide, mmad.n - column * kSide));
      const unsigned char* fractal = from + (k / depth * across + column) * kFractalBytes;
      copy({columns, rows, kFractalRow}, fractal, to + k * pitch + column * kSide * element, pitch,
           element, true);
    }
  }
}

// Between C in columns of fractals and C row by row.
template <class Move>
void each_result_row(const platform::Mmad& mmad, unsigned char* fractals, unsigned char* rows,
                     Move move) {
  const Bytes down = ceil_div(Bytes{mmad.m}, kSide), across = ceil_div(Bytes{mmad.n}, kSide);
  for (Bytes row = 0; row < mmad.m; ++row) {
    for (Bytes column = 0; column < across; ++column) {
      move(fractals + column * down * kResult + row * kResultRow,
           rows + row * l0c_pitch(mmad.n) + column * kResultRow);
    }
  }
}

}  // namespace

void copy_fractals(const platform::LoadL0& load, const unsigned char* from, unsigned char* to) {
  for (std::uint32_t i = 0; i < load.rows; ++i) {
    if (load.transpose) {
      copy({kSide, kSide, kFractalRow}, from, to, kFractalRow, 2, true);
    } else {
      std::memcpy(to, from, kFractalBytes);
    }
    from += load.from_pitch;
    to += kFractalBytes;
  }
}

void multiply_fractals(const platform::Mmad& mmad, const unsigned char* a, const unsigned char* b,
                       unsigned char* c) {
  const Bytes a_pitch = l0_pitch(mmad.k, mmad.type), b_pitch = l0_pitch(mmad.n, mmad.type);
  const Bytes c_pitch = l0c_pitch(mmad.n);
  std::vector<unsigned char> a_rows(mmad.m * a_pitch), b_rows(mmad.k * b_pitch);
  std::vector<Aligned> c_rows(mmad.m * c_pitch / sizeof(Aligned));
  unsigned char* const rows = c_rows.front().bytes;
  lines_of(mmad.m, a_pitch, a, a_rows.data());
  rows_of_b(mmad, b, b_rows.data());
  if (mmad.accumulate) {
    each_result_row(mmad, c, rows,
                    [](auto* fractal, auto* row) { std::memcpy(row, fractal, kResultRow); });
  }
  const ProductPiece piece{a_rows.data(), b_rows.data(), a_pitch, b_pitch, mmad.k};
  multiply({mmad.m, mmad.n, c_pitch, mmad.type, mmad.accumulate}, &piece, 1, rows);
  each_result_row(mmad, c, rows,
                  [](auto* fractal, auto* row) { std::memcpy(fractal, row, kResultRow); });
}

Bytes row_pitch(const platform::Fixpipe& fixpipe) {
  return fixpipe.column_pitch == 0 ? l0c_pitch(fixpipe.n) : kResultRow;
}

const unsigned char* row_of(const platform::Fixpipe& fixpipe, const unsigned char* from,
                            std::vector<unsigned char>& row) {
  row.resize(l0c_pitch(fixpipe.n));
  for (Bytes at = 0; at < row.size(); at += kResultRow) {
    std::memcpy(row.data() + at, from, kResultRow);
    from += fixpipe.column_pitch;
  }
  return row.data();
}

}  // namespace npu::model::arithmetic
