// SPDX-License-Identifier: Apache-2.0
// What becomes of a task's output when all its keys have been seen: it is divided by the sums of
// the weights and stored, or, of a part of the keys, stored with its numbers.
#pragma once

#include "kernels/device/attention/work.hpp"
#include "kernels/device/common/rows.hpp"

namespace npu::kernels::attention {

using platform::Vector;
using platform::VectorOp;

class Results {
 public:
  Results(AicorePort& port, const Work& w) : port_(port), w_(w) {}

  // `rows` of fp32 into results, which may lie where they are.
  void divide(std::uint32_t sums, std::uint32_t output, std::uint32_t result,
              std::uint32_t rows) const {
    // Of a query that sees a key it is at least about 1; of others the output is 0.
    if (w_.some_blind()) number_op(port_, VectorOp::kMaxs, sums, sums, 0, rows, 0.5F);
    row_op(port_, VectorOp::kBroadcastDiv, output, output, sums, {0, 0, rows, w_.head});
    if (kTypeC == DataType::kFp32) return;
    convert_rows(port_, result, kTypeC, output, DataType::kFp32, rows, w_.head);
  }
  void store(const Task& task, std::uint32_t first, std::uint32_t rows, std::uint32_t from) const {
    const std::uint32_t pitch = aicore::row_bytes(w_.head, kTypeC);
    w_.for_runs(task, first, first + rows,
                [&](std::uint32_t row, std::uint32_t count, std::uint64_t at,
                    std::uint64_t to_pitch, std::uint32_t) {
                  store_rows(port_, {w_.to + at * platform::bytes_of(kTypeC), to_pitch},
                             {0, 0, count, w_.head}, from + (row - first) * pitch, kTypeC);
                });
  }
  void store_part(const Task& task, std::uint32_t first, std::uint32_t rows, std::uint32_t output,
                  std::uint32_t largest, std::uint32_t sums) const {
    const std::uint64_t at = task.number * w_.rows + first;
    store_rows(port_, {w_.parts, w_.head}, {at, 0, rows, w_.head}, output, DataType::kFp32);
    store_rows(port_, {w_.numbers, 0}, {0, at, 1, rows}, largest, DataType::kFp32);
    const std::uint64_t all = w_.tasks() * w_.rows;
    store_rows(port_, {w_.numbers, 0}, {0, all + at, 1, rows}, sums, DataType::kFp32);
  }

 private:
  AicorePort& port_;
  const Work& w_;
};

}  // namespace npu::kernels::attention
