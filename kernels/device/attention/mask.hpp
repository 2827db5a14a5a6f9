// SPDX-License-Identifier: Apache-2.0
// Scores of keys that a query does not see, which become minus infinity, and numbers of keys, which
// are added to their scores.
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

  // Whether any of a step's keys is hidden from the task's row `first`, and so from others.
  bool hides(const Step& step, std::uint32_t first) const {
    if (kMasked) return true;
    if (!kCausal || w_.queries == 1) return false;
    const std::uint32_t query = w_.grouped != 0 ? 0 : step.task.query + first;
    return visible(query, step) < step.keys;
  }
  // Rows [first, first + rows) of a step's task, `keys` of it, from `scores` on.
  void apply(const Step& step, std::uint32_t first, std::uint32_t rows, std::uint32_t scores,
             std::uint32_t pitch, DataType type) const {
#if NPU_JIT_MASK
    add_numbers(step, rows, scores, pitch, type);
#endif
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
#if NPU_JIT_MASK
  static constexpr unsigned kFlag = 5;  // nobody else has it

  // The row is loaded anew for each tile, when the vector unit is done with the one before.
  void add_numbers(const Step& step, std::uint32_t rows, std::uint32_t scores, std::uint32_t pitch,
                   DataType type) const {
    const aicore::Flag<Pipe::kVector, Pipe::kMte2> taken(port_, kFlag);
    taken.set();
    taken.wait();
    platform::CopyIn copy;
    copy.to = {LocalBuffer::kUb, ub_.loaded()};
    copy.from = w_.mask + (step.task.batch * w_.mask_pitch + step.first_key) * kBytes;
    copy.rows = 1;
    copy.row_bytes = step.keys * kBytes;
    port_.issue(copy);
    const aicore::Flag<Pipe::kMte2, Pipe::kVector> full(port_, kFlag);
    full.set();
    full.wait();
    if (type != kTypeA) convert_rows(port_, ub_.added(), type, ub_.loaded(), kTypeA, 1, step.keys);
    for (std::uint32_t row = 0; row < rows; ++row) {
      const std::uint32_t at = scores + row * pitch;
      Vector add = row_vector(VectorOp::kAdd, type, at, at, 1, step.keys);
      add.b = ub_.added();
      port_.issue(add);
    }
  }
#endif
  // Of the step's keys; the first queries may see none of them, or fewer.
  std::int64_t visible(std::uint32_t query, const Step& step) const {
    return std::int64_t{query} + 1 + w_.keys - w_.queries - step.first_key;
  }
  // Each row sees a key more than the one before.
  void group(const Step& step, std::uint32_t query, std::uint32_t rows, std::uint32_t scores,
             std::uint32_t pitch, DataType type) const {
    const auto size = static_cast<std::uint32_t>(platform::bytes_of(type));
    const std::uint32_t repeat = 256 / size;  // whole ones
    const std::int64_t sees = visible(query, step);
    // All rows see what comes before `first`.
    const auto seen = static_cast<std::uint32_t>(std::max<std::int64_t>(sees, 0));
    if (seen >= step.keys) return;
    const std::uint32_t first = seen / repeat * repeat;
    const std::uint32_t at = scores + first * size;
    if (sees + rows <= 1) {  // nor do the last ones
      Vector hide = row_vector(VectorOp::kDuplicate, type, at, at, rows, step.keys);
      hide.to_pitch = pitch;
      hide.scalar = -__builtin_inff();
      return port_.issue(hide);
    }
    Vector compare =
        row_vector(VectorOp::kCompares, type, ub_.mask(), ub_.index(), rows, step.keys - first);
    compare.a_pitch = ub_.index_row;
    compare.to_pitch = ub_.mask_row;
    compare.comparison = platform::Comparison::kLess;
    compare.scalar = static_cast<float>(sees - first);
    port_.issue(compare);
    Vector select = row_vector(VectorOp::kSelects, type, at, at, rows, step.keys - first);
    select.a_pitch = select.to_pitch = pitch;
    select.mask = ub_.mask();
    select.mask_pitch = ub_.mask_row;
    select.scalar = -__builtin_inff();
    port_.issue(select);
  }

  // The first 8 by the scalar unit, a row by doubling what is there, in fp32; then rows in the type
  // of the scores, which holds all that they are compared with.
  void make_index() const {
    constexpr std::uint32_t kFirst = 8;
    const std::uint32_t row = ub_.folded;
    for (std::uint32_t i = 0; i < kFirst; ++i) {
      const auto number = static_cast<float>(i);
      std::uint32_t bits = 0;
      std::memcpy(&bits, &number, sizeof bits);
      port_.store_ub(row + 4 * i, bits);
    }
    const aicore::Flag<Pipe::kScalar, Pipe::kVector> ready(port_, 0);
    ready.set();
    ready.wait();
    const std::uint32_t keys = aicore::round_up(w_.chunk, kFirst);
    for (std::uint32_t have = kFirst; have < keys; have *= 2) {
      add(DataType::kFp32, row + 4 * have, row, std::min(have, keys - have),
          static_cast<float>(have));
    }
    convert_rows(port_, ub_.index(), ub_.type, row, DataType::kFp32, 1, keys);
    for (std::uint32_t have = 1; have < RowSpace::kMaskRows; have *= 2) {
      const std::uint32_t bytes = have * ub_.index_row;
      add(ub_.type, ub_.index() + bytes, ub_.index(),
          bytes / static_cast<std::uint32_t>(platform::bytes_of(ub_.type)),
          -static_cast<float>(have));
    }
  }
  void add(DataType type, std::uint32_t to, std::uint32_t from, std::uint32_t count,
           float more) const {
    Vector v = row_vector(VectorOp::kAdds, type, to, from, 1, count);
    v.scalar = more;
    port_.issue(v);
  }

  AicorePort& port_;
  const Work& w_;
  const RowSpace& ub_;
};

}  // namespace npu::kernels::attention
