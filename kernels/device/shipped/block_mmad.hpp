// SPDX-License-Identifier: Apache-2.0
// One tile of C on one cube core. K goes through L1 in two buffers and from there through L0 in two
// more: MTE2 loads the next L1 tiles while MTE1 feeds L0 and the cube multiplies. Flags say which
// buffer is full and which is free; a flag of a free buffer is raised once before the first tile
// and taken back after the last.
#pragma once

#include <algorithm>

#include "kernels/device/shipped/matmul.hpp"
#include "kernels/device/shipped/tile.hpp"

namespace npu::kernels::gemm {

using aicore::Flag;
using platform::Pipe;

class BlockMmad {
 public:
  BlockMmad(AicorePort& port, const Problem& problem) : port_(port), p_(problem) {
    const std::uint32_t a_bytes = p_.l1.m * aicore::row_bytes(p_.l1.k, p_.type);
    const std::uint32_t b_bytes = p_.l1.k * aicore::row_bytes(p_.l1.n, p_.type);
    for (unsigned i = 0; i < kStages; ++i) {
      l1a_[i] = i * a_bytes;
      l1b_[i] = kStages * a_bytes + i * b_bytes;
      l0a_[i] = i * static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kL0a) / kStages);
      l0b_[i] = i * static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kL0b) / kStages);
    }
    for (unsigned i = 0; i < kStages; ++i) {
      l1_free(i).set();
      l0_free(i).set();
    }
    c_free().set();
  }
  ~BlockMmad() {
    for (unsigned i = 0; i < kStages; ++i) {
      l1_free(i).wait();
      l0_free(i).wait();
    }
    c_free().wait();
  }
  BlockMmad(const BlockMmad&) = delete;
  BlockMmad& operator=(const BlockMmad&) = delete;

  // Tile (row, column) of C, in tiles.
  void run(std::uint32_t row, std::uint32_t column) {
    first_row_ = row * p_.l1.m;
    first_column_ = column * p_.l1.n;
    m_ = std::min(p_.l1.m, p_.m - first_row_);
    n_ = std::min(p_.l1.n, p_.n - first_column_);
    const std::uint32_t steps = aicore::divide_up(p_.k, p_.l1.k);
    load(0);
    c_free().wait();
    for (std::uint32_t step = 0; step < steps; ++step) {
      if (step + 1 < steps) load(step + 1);
      multiply(step);
    }
    c_full().set();
    c_full().wait();
    const std::uint64_t bytes = platform::bytes_of(p_.to_type);
    GlobalTile c{p_.c + (std::uint64_t{first_row_} * p_.ldc + first_column_) * bytes, m_, n_,
                 p_.ldc * bytes};
    copy_to_global(port_, c, 0, accumulator(p_.type), p_.to_type);
    c_free().set();
  }

 private:
  static constexpr unsigned kStages = 2;
  using L1Free = Flag<Pipe::kMte1, Pipe::kMte2>;
  using L1Full = Flag<Pipe::kMte2, Pipe::kMte1>;
  using L0Free = Flag<Pipe::kCube, Pipe::kMte1>;
  using L0Full = Flag<Pipe::kMte1, Pipe::kCube>;
  using CFree = Flag<Pipe::kFixpipe, Pipe::kCube>;
  using CFull = Flag<Pipe::kCube, Pipe::kFixpipe>;
  L1Free l1_free(unsigned i) { return {port_, i}; }
  L1Full l1_full(unsigned i) { return {port_, i}; }
  L0Free l0_free(unsigned i) { return {port_, i}; }
  L0Full l0_full(unsigned i) { return {port_, i}; }
  CFree c_free() { return {port_, 0}; }
  CFull c_full() { return {port_, 0}; }

  std::uint32_t depth(std::uint32_t step) const { return std::min(p_.l1.k, p_.k - step * p_.l1.k); }

  void load(std::uint32_t step) {
    const unsigned stage = l1_loads_++ % kStages;
    const std::uint64_t bytes = platform::bytes_of(p_.type);
    const std::uint32_t k = depth(step);
    const std::uint64_t first_k = std::uint64_t{step} * p_.l1.k;
    l1_free(stage).wait();
    copy_to_l1(
        port_, l1a_[stage],
        {p_.a + (std::uint64_t{first_row_} * p_.lda + first_k) * bytes, m_, k, p_.lda * bytes},
        p_.type);
    copy_to_l1(port_, l1b_[stage],
               {p_.b + (first_k * p_.ldb + first_column_) * bytes, k, n_, p_.ldb * bytes}, p_.type);
    l1_full(stage).set();
  }

  void multiply(std::uint32_t step) {
    const unsigned stage = l1_uses_++ % kStages;
    const std::uint32_t k = depth(step);
    const std::uint32_t a_pitch = aicore::row_bytes(k, p_.type);
    const std::uint32_t b_pitch = aicore::row_bytes(n_, p_.type);
    const auto bytes = static_cast<std::uint32_t>(platform::bytes_of(p_.type));
    l1_full(stage).wait();
    for (std::uint32_t done = 0; done < k; done += p_.l0.k) {
      const unsigned half = l0_uses_++ % kStages;
      const std::uint32_t piece = std::min(p_.l0.k, k - done);
      l0_free(half).wait();
      copy_to_l0(port_, {LocalBuffer::kL0a, l0a_[half]}, l1a_[stage] + done * bytes, a_pitch, m_,
                 piece, p_.type);
      copy_to_l0(port_, {LocalBuffer::kL0b, l0b_[half]}, l1b_[stage] + done * b_pitch, b_pitch,
                 piece, n_, p_.type);
      if (done + p_.l0.k >= k) l1_free(stage).set();
      l0_full(half).set();
      l0_full(half).wait();
      platform::Mmad mmad;
      mmad.a = l0a_[half];
      mmad.b = l0b_[half];
      mmad.m = m_;
      mmad.k = piece;
      mmad.n = n_;
      mmad.type = p_.type;
      mmad.accumulate = step != 0 || done != 0;
      port_.issue(mmad);
      l0_free(half).set();
    }
  }

  AicorePort& port_;
  const Problem p_;
  std::uint32_t l1a_[kStages] = {}, l1b_[kStages] = {}, l0a_[kStages] = {}, l0b_[kStages] = {};
  unsigned l1_loads_ = 0, l1_uses_ = 0, l0_uses_ = 0;
  std::uint32_t first_row_ = 0, first_column_ = 0, m_ = 0, n_ = 0;  // of the present tile
};

}  // namespace npu::kernels::gemm
