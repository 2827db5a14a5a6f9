// SPDX-License-Identifier: Apache-2.0
// Each row times the Hadamard matrix, by the fast Walsh-Hadamard transformation. NPU_JIT_ELEMENT_A
// and NPU_JIT_ELEMENT_C, the same: half or float; TensorParams.
//
// A step puts the sums of neighbours into the first half of a window and their differences into the
// second one: what was the lowest bit of an element's place becomes its highest. After a step for
// each bit of a row's length a row lies as it began. Short rows share a window; steps that only
// move bring their elements back.
#include "kernels/device/vector/in_place.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::size_of;

static_assert(kTypeA == vector::kTypeC && (kTypeA == DataType::kFp16 || kTypeA == DataType::kFp32),
              "a Hadamard transformation is of half or float: NPU_JIT_ELEMENT_A and "
              "NPU_JIT_ELEMENT_C must be the same");

constexpr std::uint32_t kShortest = 32;                   // so that halves are aligned
constexpr std::uint32_t kWindow = 512 / size_of(kTypeA);  // elements: halves of a whole repeat

class Transformation {
 public:
  Transformation(AicorePort& port, std::uint32_t columns, std::uint32_t spare)
      : port_(port), columns_(columns), window_(std::max(columns, kWindow)), spare_(spare) {}

  // `count` elements from `x` on, in place. A tensor's last window may be short.
  void operator()(std::uint32_t x, std::uint32_t count) const {
    const std::uint32_t whole = count / window_;
    if (whole != 0) transform(x, whole, window_);
    const std::uint32_t rest = count % window_;
    if (rest != 0) transform(x + whole * window_ * size_of(kTypeA), rest / columns_, columns_);
  }

 private:
  void transform(std::uint32_t x, std::uint32_t windows, std::uint32_t window) const {
    for (std::uint32_t length = columns_; length > 1; length /= 2) {
      move(spare_, x, windows, window);
      half(VectorOp::kAdd, x, windows, window);
      half(VectorOp::kSub, x + window / 2 * size_of(kTypeA), windows, window);
    }
    std::uint32_t from = x, to = spare_;
    for (std::uint32_t rows = window / columns_; rows > 1; rows /= 2) {
      move(to, from, windows, window);
      std::swap(from, to);
    }
    if (from != x) {
      convert_rows(port_, x, kTypeA, from, kTypeA, 1, windows * window);
    }
  }
  void move(std::uint32_t to, std::uint32_t from, std::uint32_t windows,
            std::uint32_t window) const {
    port_.issue(row_vector(VectorOp::kDeinterleave, kTypeA, to, from, windows, window));
  }
  // Of each window of the spare buffer: to = first half op second half.
  void half(VectorOp op, std::uint32_t to, std::uint32_t windows, std::uint32_t window) const {
    Vector v = row_vector(op, kTypeA, to, spare_, windows, window / 2);
    v.b = spare_ + window / 2 * size_of(kTypeA);
    v.to_pitch = v.a_pitch = v.b_pitch = window * size_of(kTypeA);
    port_.issue(v);
  }

  AicorePort& port_;
  const std::uint32_t columns_, window_, spare_;
};

int kernel(AicorePort& port) {
  const auto work =
      work_from<vector::FlatWork>(aicore::Arguments(port, kWorkWords<vector::FlatWork>));
  const Transformation transformation(port, work.columns,
                                      kSets * work.tile * work.grain * size_of(kTypeA));
  vector::InPlace<true, const Transformation>(port, work, kTypeA, transformation).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  const std::uint64_t rows = params.sides[0], columns = params.sides[1];
  if (rows == 0 || columns == 0) return;
  if (columns < kShortest || (columns & (columns - 1)) != 0 || columns > kMostSide) {
    return stream.refuse("columns must be a power of two from 32 on");
  }
  if (rows > kMostSide || columns > aicore::kMostElements / rows) {
    return stream.refuse("the tensor is beyond the address space");
  }
  if (!aligned(params.inputs[0], kTypeA) || !aligned(params.results[0], kTypeA)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  vector::FlatWork work;
  work.grain = static_cast<std::uint32_t>(std::max<std::uint64_t>(columns, kWindow));
  constexpr unsigned kBuffers = kSets + 1;
  if (stream.limits().ub / kBuffers < std::uint64_t{work.grain} * size_of(kTypeA)) {
    return stream.refuse("a row does not fit three times into UB");
  }
  Launches launches(stream, CoreKind::kVector, block_num);
  work.from = params.inputs[0], work.to = params.results[0];
  work.count = rows * columns, work.columns = static_cast<std::uint32_t>(columns);
  work.grains = aicore::divide_up<std::uint64_t>(work.count, work.grain);
  const auto cores = launches.cores(CoreKind::kVector);
  work.tile = vector::grains_of_tile(params.tile, work.grain * size_of(kTypeA),
                                     work.grains / cores + 1, kBuffers, stream.limits().ub);
  launches.launch(CoreKind::kVector, 0U, work, work.grains);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::vector::FlatWork, npu::kernels::host,
             npu::operators::TensorParams)
