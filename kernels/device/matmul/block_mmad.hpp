// SPDX-License-Identifier: Apache-2.0
// One tile of a product on one cube core. K goes through L1 in two buffers and from there through
// L0 in two more: MTE2 loads the next L1 tiles while MTE1 feeds L0 and the cube multiplies. Flags
// say which buffer is full and which is free; a flag of a free buffer is raised once before the
// first tile and taken back after the last.
#pragma once

#include <algorithm>

#include "kernels/device/matmul/tiling.hpp"
#include "npu/aicore/tiles.hpp"

namespace npu::kernels::matmul {

using aicore::AicorePort;
using aicore::Flag;
using platform::LocalBuffer;
using platform::Pipe;

// A x B over [first_k, end_k), not empty; C row by row at `c_pitch` elements.
template <class A, class B>
struct Product {
  using First = A;
  using Second = B;
  A a;
  B b;
  std::uint64_t c = 0, c_pitch = 0;
  std::uint32_t m = 0, n = 0;
  std::uint32_t first_k = 0, end_k = 0;
  std::uint32_t a_row = 0;   // of A, where the product's rows begin
  std::uint64_t bias = 0;    // a number for each column; 0: none
  std::uint64_t scales = 0;  // of FixPipe, too, fp32; 0: `scale` for all
  float scale = 1;
};

// Numbers of C's columns that a tile needs beside A and B.
enum class Tables : std::uint8_t {
  kNone,
  kBias,           // what C begins with
  kBiasAndScales,  // and what FixPipe multiplies int32 with
};

// Which tile of L0C is the present one; one tile takes no room in whoever has it.
template <unsigned kTiles>
class TilesInL0c {
 public:
  unsigned next() { return present_ = (present_ + 1) % kTiles; }
  unsigned present() const { return present_; }

 private:
  unsigned present_ = 0;
};
template <>
class TilesInL0c<1> {
 public:
  static unsigned next() { return 0; }
  static unsigned present() { return 0; }
};

// `Type` of A and B, `Result` of C: Fixed<>, or a DataType that is given. `kTilesInL0c`: 1, or 2
// where two of the tiling fit: FixPipe stores one while the cube makes the next. `kBiasType`: of
// the bias, which the cube can begin with.
template <class A, class B, class Type, class Result, unsigned kTilesInL0c = 1,
          Tables kTables = Tables::kNone, DataType kBiasType = DataType::kFp32>
class BlockMmad : private TilesInL0c<kTilesInL0c> {
 public:
  BlockMmad(AicorePort& port, const Tiling& tiling, Type type = {}, Result result = {})
      : port_(port), tile_(tiling), type_(type), result_(result) {
    const std::uint32_t a_bytes = A::local_bytes(tile_.m, tile_.k, type_);
    const std::uint32_t b_bytes = B::local_bytes(tile_.k, tile_.n, type_);
    for (unsigned i = 0; i < kStages; ++i) {
      l1a_[i] = i * a_bytes;
      l1b_[i] = kStages * a_bytes + i * b_bytes;
      l0a_[i] = half(LocalBuffer::kL0a, i);
      l0b_[i] = half(LocalBuffer::kL0b, i);
      l1_free(i).set();
      l0_free(i).set();
    }
    for (unsigned i = 0; i < kTilesInL0c; ++i) c_free(i).set();
    if constexpr (kTables != Tables::kNone) {
      tables_ = kStages * (a_bytes + b_bytes);
      for (unsigned i = 0; i < kStages; ++i) tables_free(i).set();
    }
  }
  ~BlockMmad() {
    for (unsigned i = 0; i < kStages; ++i) {
      l1_free(i).wait();
      l0_free(i).wait();
    }
    for (unsigned i = 0; i < kTilesInL0c; ++i) c_free(i).wait();
    if constexpr (kTables != Tables::kNone) {
      for (unsigned i = 0; i < kStages; ++i) tables_free(i).wait();
    }
  }
  BlockMmad(const BlockMmad&) = delete;
  BlockMmad& operator=(const BlockMmad&) = delete;

  // Tile (row, column) of C, in tiles. Out of line: one copy of its code.
  [[gnu::noinline]] void run(const Product<A, B>& product, std::uint32_t row,
                             std::uint32_t column) {
    first_row_ = row * tile_.m;
    first_column_ = column * tile_.n;
    m_ = std::min(tile_.m, product.m - first_row_);
    n_ = std::min(tile_.n, product.n - first_column_);
    const std::uint32_t steps = aicore::divide_up(product.end_k - product.first_k, tile_.k);
    if constexpr (kTables != Tables::kNone) load_tables(product);
    const std::uint32_t first = first_step(steps);
    const auto in_turn = [&](std::uint32_t i) {
      return i + first < steps ? i + first : i + first - steps;
    };
    load(product, in_turn(0));
    const unsigned c = this->next();
    c_free(c).wait();
    for (std::uint32_t i = 0; i < steps; ++i) {
      if (i + 1 < steps) load(product, in_turn(i + 1));
      multiply(product, in_turn(i), i == 0);
    }
    c_full(c).set();
    c_full(c).wait();
    store(product);
    c_free(c).set();
    if constexpr (kTables != Tables::kNone) tables_free(tiles_++ % kStages).set();
  }

 private:
  Flag<Pipe::kMte1, Pipe::kMte2> l1_free(unsigned i) { return {port_, i}; }
  Flag<Pipe::kMte2, Pipe::kMte1> l1_full(unsigned i) { return {port_, i}; }
  Flag<Pipe::kCube, Pipe::kMte1> l0_free(unsigned i) { return {port_, i}; }
  Flag<Pipe::kMte1, Pipe::kCube> l0_full(unsigned i) { return {port_, i}; }
  Flag<Pipe::kFixpipe, Pipe::kCube> c_free(unsigned i) { return {port_, i}; }
  Flag<Pipe::kCube, Pipe::kFixpipe> c_full(unsigned i) { return {port_, i}; }

  Flag<Pipe::kFixpipe, Pipe::kMte2> tables_free(unsigned i) { return {port_, i}; }

  static_assert(kTilesInL0c == 1 || kTilesInL0c == kStages);
  std::uint32_t l0c() const {
    return kTilesInL0c == 1 ? 0 : half(LocalBuffer::kL0c, this->present());
  }

  std::uint32_t half(LocalBuffer buffer, unsigned stage) const {
    const auto bytes = static_cast<std::uint32_t>(port_.buffer_size(buffer) / kStages);
    return stage * (bytes / aicore::kLocalAlignment * aicore::kLocalAlignment);
  }
  // Columns of fractals are far apart, often by a power of two: cores that went along k together
  // would ask the same channels of the memory at a time. So each begins elsewhere (catlass:
  // shuffle of k).
  std::uint32_t first_step(std::uint32_t steps) const {
    if constexpr (!A::kFractal && !B::kFractal) return 0;
    const platform::KernelCall& call = port_.call();
    return static_cast<std::uint32_t>(std::uint64_t{call.block} * steps / call.blocks);
  }
  std::uint32_t first_k(const Product<A, B>& product, std::uint32_t step) const {
    return product.first_k + step * tile_.k;
  }
  std::uint32_t depth(const Product<A, B>& product, std::uint32_t step) const {
    return std::min(tile_.k, product.end_k - first_k(product, step));
  }

  // The present tile's bias, and its scales behind it.
  std::uint32_t bias_at() const {
    return tables_ + tiles_ % kStages * 2 * aicore::row_bytes(tile_.n, DataType::kFp32);
  }
  std::uint32_t scales_at() const {
    return bias_at() + aicore::row_bytes(tile_.n, DataType::kFp32);
  }
  // Ahead of A and B in their pipe: what waits for those has these.
  void load_tables(const Product<A, B>& product) {
    tables_free(tiles_ % kStages).wait();
    if (product.bias != 0) load_table(bias_at(), product.bias, kBiasType);
    if constexpr (kTables == Tables::kBiasAndScales) {
      if (product.scales != 0) load_table(scales_at(), product.scales, DataType::kFp32);
    }
  }
  void load_table(std::uint32_t to, std::uint64_t from, DataType type) {
    platform::CopyIn copy;
    copy.to = {LocalBuffer::kL1, to};
    copy.from = from + std::uint64_t{first_column_} * platform::bytes_of(type);
    copy.row_bytes = n_ * static_cast<std::uint32_t>(platform::bytes_of(type));
    copy.to_pitch = copy.row_bytes;
    port_.issue(copy);
  }

  void load(const Product<A, B>& product, std::uint32_t step) {
    const unsigned stage = l1_loads_++ % kStages;
    const std::uint32_t k = depth(product, step), from = first_k(product, step);
    l1_free(stage).wait();
    product.a.load(port_, {LocalBuffer::kL1, l1a_[stage]},
                   {product.a_row + first_row_, from, m_, k});
    product.b.load(port_, {LocalBuffer::kL1, l1b_[stage]}, {from, first_column_, k, n_});
    l1_full(stage).set();
  }

  // A part of a matrix that lies in L1 as it is stored, `rows` x `columns` of it as multiplied.
  template <class Matrix>
  void feed(platform::Local to, std::uint32_t from, std::uint32_t pitch, std::uint32_t rows,
            std::uint32_t columns) {
    platform::LoadL0 load;
    load.to = to;
    load.from = from;
    load.rows = Matrix::kTransposed ? columns : rows;
    load.columns = Matrix::kTransposed ? rows : columns;
    load.from_pitch = pitch;
    load.type = type_;
    load.transpose = Matrix::kTransposed;
    port_.issue(load);
  }

  void multiply(const Product<A, B>& product, std::uint32_t step, bool first) {
    const unsigned stage = l1_uses_++ % kStages;
    const std::uint32_t k = depth(product, step);
    const std::uint32_t a_pitch = A::local_pitch(m_, k, type_);
    const std::uint32_t b_pitch = B::local_pitch(k, n_, type_);
    const auto bytes = static_cast<std::uint32_t>(platform::bytes_of(type_));
    // From one element to the next in the direction of k.
    const std::uint32_t a_step = A::kTransposed ? a_pitch : bytes;
    const std::uint32_t b_step = B::kTransposed ? bytes : b_pitch;
    l1_full(stage).wait();
    for (std::uint32_t done = 0; done < k; done += tile_.l0_k) {
      const unsigned half = l0_uses_++ % kStages;
      const std::uint32_t piece = std::min(tile_.l0_k, k - done);
      l0_free(half).wait();
      feed<A>({LocalBuffer::kL0a, l0a_[half]}, l1a_[stage] + done * a_step, a_pitch, m_, piece);
      feed<B>({LocalBuffer::kL0b, l0b_[half]}, l1b_[stage] + done * b_step, b_pitch, piece, n_);
      if (done + tile_.l0_k >= k) l1_free(stage).set();
      l0_full(half).set();
      l0_full(half).wait();
      platform::Mmad mmad;
      mmad.c = l0c();
      mmad.a = l0a_[half];
      mmad.b = l0b_[half];
      mmad.m = m_;
      mmad.k = piece;
      mmad.n = n_;
      mmad.type = type_;
      mmad.accumulate = !first || done != 0;
      if constexpr (kTables != Tables::kNone) {
        if (!mmad.accumulate && product.bias != 0) {
          mmad.start = platform::MmadStart::kBias;
          mmad.bias_type = kBiasType;
          mmad.bias = bias_at();
        }
      }
      port_.issue(mmad);
      l0_free(half).set();
    }
  }

  void store(const Product<A, B>& product) {
    const std::uint64_t bytes = platform::bytes_of(result_);
    platform::Fixpipe fixpipe;
    fixpipe.from = l0c();
    fixpipe.to = product.c + (first_row_ * product.c_pitch + first_column_) * bytes;
    fixpipe.m = m_;
    fixpipe.n = n_;
    fixpipe.to_pitch = product.c_pitch * bytes;
    fixpipe.type = aicore::accumulator(type_);
    fixpipe.to_type = result_;
    if constexpr (kTables == Tables::kBiasAndScales) {
      const bool columns = product.scales != 0;
      fixpipe.scaling = columns ? platform::FixpipeScale::kColumns : platform::FixpipeScale::kOne;
      fixpipe.scale = product.scale;
      fixpipe.scales = columns ? scales_at() : 0;
    }
    port_.issue(fixpipe);
  }

  AicorePort& port_;
  const Tiling tile_;
  const Type type_;
  const Result result_;
  std::uint32_t l1a_[kStages] = {}, l1b_[kStages] = {}, l0a_[kStages] = {}, l0b_[kStages] = {};
  unsigned l1_loads_ = 0, l1_uses_ = 0, l0_uses_ = 0;
  std::uint32_t first_row_ = 0, first_column_ = 0, m_ = 0, n_ = 0;  // of the present tile
  std::uint32_t tables_ = 0;                                        // where they lie in L1
  unsigned tiles_ = 0;                                              // before the present one
};

}  // namespace npu::kernels::matmul
