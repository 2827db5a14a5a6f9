// SPDX-License-Identifier: Apache-2.0
// Zeros over rows in global memory: what sums over nothing are. Other numbers, too.
#pragma once

#include "kernels/device/common/stages.hpp"

namespace npu::kernels {

class Zeros {
 public:
  // Rows of up to `columns` elements, all of them `value`.
  Zeros(AicorePort& port, platform::DataType type, std::uint64_t columns, float value = 0)
      : port_(port), type_(type) {
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    largest_ = largest_tile(kMostRows, columns, std::min(ub, kMostBytes),
                            static_cast<std::uint32_t>(platform::bytes_of(type)));
    Vector v = row_vector(VectorOp::kDuplicate, type, 0, 0, largest_.rows, largest_.columns);
    v.scalar = value;
    port.issue(v);
    const Flag<Pipe::kVector, Pipe::kMte3> ready(port, 0);
    ready.set();
    ready.wait();
  }
  std::uint32_t rows() const { return largest_.rows; }
  // At most rows(), of all columns.
  void fill_tile(const GlobalRows& to, const AreaTile& tile) const {
    store_rows(port_, to, tile, 0, type_);
  }
  // The block's part of them. Not empty.
  void fill(const GlobalRows& to, std::uint64_t rows, std::uint64_t columns) const {
    for_area(port_.call(), rows, columns, largest_,
             [&](const AreaTile& tile) { fill_tile(to, tile); });
  }

 private:
  static constexpr std::uint32_t kMostBytes = 32 * 1024, kMostRows = 1024;
  AicorePort& port_;
  const platform::DataType type_;
  AreaTile largest_;
};

}  // namespace npu::kernels
