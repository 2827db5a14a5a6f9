// SPDX-License-Identifier: Apache-2.0
// Rows of the keys or of the values of a head, into L1: in a tensor of any pitches, or in pages
// whose numbers a table has.
#pragma once

#include "kernels/device/attention/work.hpp"

namespace npu::kernels::attention {

class Keys {
 public:
  Keys(AicorePort& port, const Work& w, std::uint64_t base) : port_(port), w_(w), base_(base) {}

  // Rows [first, first + count) of the task's head.
  void load(std::uint32_t to, const Task& task, std::uint32_t first, std::uint32_t count) const {
    const std::uint64_t head = task.kv_head * w_.key_pitch.head;
    if (w_.table == 0) {
      const std::uint64_t at = task.batch * w_.key_pitch.batch + head + first * w_.key_pitch.row;
      return copy(to, at, count);
    }
    while (count > 0) {
      const std::uint32_t in_page = first % w_.page;
      const std::uint32_t rows = std::min(count, w_.page - in_page);
      const std::uint64_t entry = std::uint64_t{task.batch} * w_.pages + first / w_.page;
      const std::uint64_t page = port_.load(w_.table + 4 * entry, 4);
      copy(to, page * w_.key_pitch.batch + head + in_page * w_.key_pitch.row, rows);
      to += rows * aicore::row_bytes(w_.head, kTypeA);
      first += rows, count -= rows;
    }
  }

 private:
  void copy(std::uint32_t to, std::uint64_t at, std::uint32_t rows) const {
    platform::CopyIn copy;
    copy.to = {LocalBuffer::kL1, to};
    copy.from = base_ + at * kBytes;
    copy.rows = rows;
    copy.row_bytes = w_.head * kBytes;
    copy.from_pitch = rows == 1 ? 0 : w_.key_pitch.row * kBytes;
    copy.to_pitch = aicore::row_bytes(w_.head, kTypeA);
    port_.issue(copy);
  }

  AicorePort& port_;
  const Work& w_;
  const std::uint64_t base_;
};

}  // namespace npu::kernels::attention
