// SPDX-License-Identifier: Apache-2.0
// Parts of L1: two tasks' queries, pieces of keys and values, pieces of weights. The same for host
// and core.
#pragma once

#include "kernels/device/attention/work.hpp"

namespace npu::kernels::attention {

class CubeBuffers {
 public:
  static constexpr std::uint32_t kPieces = 4, kPair = 2;

  explicit CubeBuffers(const Work& w)
      : query_bytes_(w.rows * aicore::row_bytes(w.head, kTypeA)),
        piece_bytes_(w.piece * aicore::row_bytes(w.head, kTypeA)),
        weight_bytes_(w.rows * aicore::row_bytes(w.local != 0 ? w.chunk : w.piece, kTypeA)) {}

  std::uint32_t queries(unsigned i) const { return i * query_bytes_; }
  std::uint32_t piece(unsigned i) const { return kPair * query_bytes_ + i * piece_bytes_; }
  std::uint32_t weights(unsigned i) const { return piece(kPieces) + i * weight_bytes_; }
  std::uint32_t end() const { return weights(kPair); }

 private:
  std::uint32_t query_bytes_, piece_bytes_, weight_bytes_;
};

}  // namespace npu::kernels::attention
