// SPDX-License-Identifier: Apache-2.0
// C from sums that the cubes left in the workspace, on vector cores: `parts` of them are added up
// in their order and converted.
#pragma once

#include "kernels/device/common/stages.hpp"
#include "kernels/device/matmul/types.hpp"

namespace npu::kernels::matmul {

static_assert(kTypeC != DataType::kInt64, "no unit converts to int64: NPU_JIT_ELEMENT_C");

class Sums {
 public:
  // `parts` matrices of m x n accumulators behind each other.
  Sums(AicorePort& port, std::uint64_t parts_at, std::uint32_t parts, std::uint32_t m,
       std::uint32_t n, const GlobalRows& to)
      : port_(port), parts_at_(parts_at), parts_(parts), size_(std::uint64_t{m} * n), to_(to) {
    const bool dense = to.pitch == n;  // rows follow one another: they are one
    rows_ = dense ? 1 : m;
    columns_ = dense ? size_ : n;
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    space_ = ub / kBuffers / aicore::kLocalAlignment * aicore::kLocalAlignment;
  }
  void run() {
    Stages stages(port_);
    const AreaTile largest = largest_tile(rows_, columns_, space_, 4);
    for_area(port_.call(), rows_, columns_, largest, [&](const AreaTile& area) {
      for (std::uint32_t part = 0; part < parts_; ++part) add(stages, area, part);
      const unsigned result = stages.begin_result();
      convert_rows(port_, out(result), kTypeC, sum(), kAccumulator, area.rows, area.columns);
      stages.computed(result);
      store_rows(port_, to_, area, out(result), kTypeC);
      stages.stored(result);
    });
  }

 private:
  static constexpr std::uint32_t kBuffers = 2 * kSets + 1;
  std::uint32_t in(unsigned i) const { return i * space_; }
  std::uint32_t out(unsigned i) const { return (kSets + i) * space_; }
  std::uint32_t sum() const { return 2 * kSets * space_; }

  void add(Stages& stages, const AreaTile& area, std::uint32_t part) {
    const unsigned i = stages.begin_load();
    load_rows(port_, in(i), {parts_at_ + part * size_ * 4, columns_}, area, kAccumulator);
    stages.loaded(i);
    Vector v = row_vector(part == 0 ? VectorOp::kCopy : VectorOp::kAdd, kAccumulator, sum(), in(i),
                          area.rows, area.columns);
    if (part != 0) {
      v.b = sum();
      v.b_pitch = v.to_pitch;
    }
    port_.issue(v);
    stages.consumed(i);
  }

  AicorePort& port_;
  const std::uint64_t parts_at_;
  const std::uint32_t parts_;
  const std::uint64_t size_;
  const GlobalRows to_;
  std::uint64_t rows_ = 0, columns_ = 0;
  std::uint32_t space_ = 0;  // bytes of a buffer
};

}  // namespace npu::kernels::matmul
