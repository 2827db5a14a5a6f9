// SPDX-License-Identifier: Apache-2.0
// Scores of keys that a query does not see, which become minus infinity.
#pragma once

#include <algorithm>
#include <cstring>

#include "kernels/device/attention/row_space.hpp"
#include "kernels/device/common/rows.hpp"

namespace npu::kernels::attention {

using platform::Vector;
using platform::VectorOp;

class Mask {
 public:
  Mask(AicorePort& port, const Work& w, const RowSpace& ub) : port_(port), w_(w), ub_(ub) {
    if (kCausal) make_index();
  }

  // Rows [first, first + rows) of a step's task, `keys` of it, from `scores` on.
  void apply(const Step& step, std::uint32_t first, std::uint32_t rows, std::uint32_t scores,
             std::uint32_t pitch, DataType type) const {
    if (!kCausal) return;
    w_.for_runs(step.task, first, first + rows,
                [&](std::uint32_t row, std::uint32_t count, std::uint64_t, std::uint64_t,
                    std::uint32_t query) {
                  // One query of many heads sees all keys.
                  if (w_.queries == 1) return;
                  for (std::uint32_t done = 0; done < count; done += RowSpace::kMaskRows) {
                    group(step, query + done, std::min(count - done, RowSpace::kMaskRows),
                          scores + (row - first + done) * pitch, pitch, type);
                  }
                });
  }

 private:
  // Each row sees a key more than the one before.
  void group(const Step& step, std::uint32_t query, std::uint32_t rows, std::uint32_t scores,
             std::uint32_t pitch, DataType type) const {
    constexpr std::uint32_t kRepeat = 64;
    // Of the chunk; the first queries may see none of it.
    const std::int64_t sees = std::int64_t{query} + 1 + w_.keys - w_.queries - step.first_key;
    // All rows see what comes before `first`.
    const auto seen = static_cast<std::uint32_t>(std::max<std::int64_t>(sees, 0));
    if (seen >= step.keys) return;
    const std::uint32_t first = seen / kRepeat * kRepeat;
    Vector compare = row_vector(VectorOp::kCompares, DataType::kFp32, ub_.mask(), ub_.index(), rows,
                                step.keys - first);
    compare.a_pitch = ub_.index_row;
    compare.to_pitch = ub_.mask_row;
    compare.comparison = platform::Comparison::kLess;
    compare.scalar = static_cast<float>(sees - first);
    port_.issue(compare);
    const std::uint32_t at = scores + first * static_cast<std::uint32_t>(platform::bytes_of(type));
    Vector select = row_vector(VectorOp::kSelects, type, at, at, rows, step.keys - first);
    select.a_pitch = select.to_pitch = pitch;
    select.mask = ub_.mask();
    select.mask_pitch = ub_.mask_row;
    select.scalar = -__builtin_inff();
    port_.issue(select);
  }

  // Of the first 8 by the scalar unit, then by doubling what is there: first a row, then rows.
  void make_index() const {
    constexpr std::uint32_t kFirst = 8;
    for (std::uint32_t i = 0; i < kFirst; ++i) {
      const auto number = static_cast<float>(i);
      std::uint32_t bits = 0;
      std::memcpy(&bits, &number, sizeof bits);
      port_.store_ub(ub_.index() + 4 * i, bits);
    }
    const aicore::Flag<Pipe::kScalar, Pipe::kVector> ready(port_, 0);
    ready.set();
    ready.wait();
    const std::uint32_t row = ub_.index_row / 4;
    for (std::uint32_t have = kFirst; have < row; have *= 2) {
      copy_index(have, std::min(have, row - have), static_cast<float>(have));
    }
    for (std::uint32_t have = 1; have < RowSpace::kMaskRows; have *= 2) {
      copy_index(have * row, have * row, -static_cast<float>(have));
    }
  }
  // The first `count` elements to where `at` is, `more` added.
  void copy_index(std::uint32_t at, std::uint32_t count, float more) const {
    number_op(port_, VectorOp::kAdds, ub_.index() + 4 * at, ub_.index(), 0, count, more);
  }

  AicorePort& port_;
  const Work& w_;
  const RowSpace& ub_;
};

}  // namespace npu::kernels::attention
