// SPDX-License-Identifier: Apache-2.0
// Parts of L1: two tasks' queries, pieces of keys and values, pieces of weights. The same for host
// and core.
#pragma once

#include <algorithm>

#include "kernels/device/attention/work.hpp"

namespace npu::kernels::attention {

class CubeBuffers {
 public:
  static constexpr std::uint32_t kPieces = 4, kPair = 2;
  // Of keys and values: in turn, as the library's products have them, or more between buffers.
  static std::uint32_t pieces(const Work& w) { return w.local != 0 ? kPieces : kPair; }

  explicit CubeBuffers(const Work& w)
      : pieces_(pieces(w)),
        query_bytes_(w.rows * aicore::row_bytes(w.head, kTypeA)),
        piece_bytes_(w.piece * aicore::row_bytes(w.head, kTypeA)),
        weight_bytes_(w.rows * aicore::row_bytes(weight_keys(w), kTypeA)) {}

  // Keys of which weights are in one place: all of a step's, or as many as make rows long enough.
  static std::uint32_t weight_keys(const Work& w) {
    return w.local != 0 ? w.chunk : std::min(2 * w.piece, std::max(w.chunk, w.piece));
  }
  std::uint32_t queries(unsigned i) const { return i * query_bytes_; }
  std::uint32_t piece(unsigned i) const { return kPair * query_bytes_ + i * piece_bytes_; }
  std::uint32_t weights(unsigned i) const { return piece(pieces_) + i * weight_bytes_; }
  std::uint32_t end() const { return weights(kPair); }

 private:
  std::uint32_t pieces_;
  std::uint32_t query_bytes_, piece_bytes_, weight_bytes_;
};

}  // namespace npu::kernels::attention
