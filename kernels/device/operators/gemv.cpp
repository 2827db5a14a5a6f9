// SPDX-License-Identifier: Apache-2.0
// y = A times x on vector cores. NPU_JIT_ELEMENT_A (A, x): half, bfloat16, float, int8 or int32;
// NPU_JIT_ELEMENT_C (y): of reals half, bfloat16 or float, of integers int32; NPU_JIT_LAYOUT_A;
// GemvParams. Each block has a part of y and goes along k.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/operand.hpp"
#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/types.hpp"

namespace npu::kernels {
namespace {

using vector::kComputed;
using vector::kTypeA;
using vector::kTypeC;

constexpr Layout kLayoutA = layout(NPU_JIT_TEXT(NPU_JIT_LAYOUT_A));
static_assert(kLayoutA != Layout::kNone, "NPU_JIT_LAYOUT_A" NPU_JIT_LAYOUTS);
static_assert(kTypeA != DataType::kInt64,
              "the vector unit does not multiply int64: NPU_JIT_ELEMENT_A");
static_assert(is_real(kTypeA) ? is_real(kTypeC) : kTypeC == DataType::kInt32,
              "gemv of reals is half, bfloat16 or float, of integers int32: NPU_JIT_ELEMENT_C");

struct GemvWork {
  std::uint64_t a = 0, x = 0, y = 0, lda = 0;
  std::uint32_t m = 0, k = 0;
};

using MatrixA = Operand<kLayoutA, Fixed<kTypeA>>;

class Gemv {
 public:
  static constexpr std::uint32_t kGrain = 32;  // whole rows of fractals of all types

  Gemv(AicorePort& port, const GemvWork& work)
      : port_(port), work_(work), a_(work.a, work.m, work.k, work.lda), stages_(port) {
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    // Three tiles of A, as loaded and as computed; the rest for vectors.
    tile_bytes_ = ub / 4 / (8 * kGrain) * (8 * kGrain);
    vector_bytes_ = ub / 4 / kVectors / aicore::kLocalAlignment * aicore::kLocalAlignment;
    const std::uint32_t most = vector_bytes_ / 4 / kGrain * kGrain;
    const std::uint32_t part = aicore::divide_up(work.m, port.call().blocks);
    // The longer side first: that along which A is stored.
    rows_ = std::min(aicore::round_up(part, kGrain), most);
    depth_ = std::min(aicore::round_up(std::max(work.k, 1U), kGrain), most);
    std::uint32_t& across = MatrixA::kTransposed ? depth_ : rows_;
    const std::uint32_t along = MatrixA::kTransposed ? rows_ : depth_;
    across = std::min(across, std::max(tile_bytes_ / (along * kWidest), 1U));
  }

  void run() {
    for (std::uint64_t row = std::uint64_t{port_.call().block} * rows_; row < work_.m;
         row += std::uint64_t{port_.call().blocks} * rows_) {
      const auto first = static_cast<std::uint32_t>(row);
      rows_of(first, std::min(rows_, work_.m - first));
    }
  }

 private:
  static constexpr std::uint32_t kVectors = 8;
  static constexpr std::uint32_t kWidest = 4;  // bytes of what is computed in
  std::uint32_t in(unsigned i) const { return i * tile_bytes_; }
  std::uint32_t work() const { return kSets * tile_bytes_; }
  std::uint32_t vector_at(unsigned i) const { return 3 * tile_bytes_ + i * vector_bytes_; }
  std::uint32_t x_in(unsigned i) const { return vector_at(i); }
  std::uint32_t out(unsigned i) const { return vector_at(kSets + i); }
  std::uint32_t x_work() const { return vector_at(4); }
  std::uint32_t part() const { return vector_at(5); }
  std::uint32_t sums() const { return vector_at(6); }

  void rows_of(std::uint32_t first, std::uint32_t rows) {
    port_.issue(row_vector(VectorOp::kDuplicate, kComputed, sums(), 0, 1, rows));
    for (std::uint32_t k = 0; k < work_.k; k += std::min(depth_, work_.k - k)) {
      piece(first, rows, k, std::min(depth_, work_.k - k));
    }
    const unsigned i = stages_.begin_result();
    convert_rows(port_, out(i), kTypeC, sums(), kComputed, 1, rows);
    stages_.computed(i);
    store_rows(port_, {work_.y, 0}, {0, first, 1, rows}, out(i), kTypeC);
    stages_.stored(i);
  }

  std::uint32_t converted(std::uint32_t from, std::uint32_t to, std::uint32_t rows,
                          std::uint32_t columns) {
    if (kTypeA == kComputed) return from;
    convert_rows(port_, to, kComputed, from, kTypeA, rows, columns);
    return to;
  }

  void piece(std::uint32_t first, std::uint32_t rows, std::uint32_t k, std::uint32_t depth) {
    const unsigned i = stages_.begin_load();
    a_.load(port_, {LocalBuffer::kUb, in(i)}, {first, k, rows, depth});
    load_rows(port_, x_in(i), {work_.x, 0}, {0, k, 1, depth}, kTypeA);
    stages_.loaded(i);
    const std::uint32_t x = converted(x_in(i), x_work(), 1, depth);
    if (MatrixA::kTransposed) {
      columns(converted(in(i), work(), depth, rows), x, rows, depth);
    } else {
      products(converted(in(i), work(), rows, depth), x, rows, depth);
    }
    stages_.consumed(i);
  }

  void add_to_sums(std::uint32_t from, std::uint32_t rows) {
    Vector v = row_vector(VectorOp::kAdd, kComputed, sums(), sums(), 1, rows);
    v.b = from;
    port_.issue(v);
  }
  // Rows of A: each times x, summed up.
  void products(std::uint32_t a, std::uint32_t x, std::uint32_t rows, std::uint32_t depth) {
    multiply_rows(port_, work(), a, x, rows, depth, kComputed);
    Vector v = row_vector(VectorOp::kReduceSum, kComputed, part(), work(), rows, depth);
    v.to_pitch = 0;
    port_.issue(v);
    add_to_sums(part(), rows);
  }
  // Columns of A, a row each here: each times its element of x, then half of them to the other
  // half.
  void columns(std::uint32_t a, std::uint32_t x, std::uint32_t rows, std::uint32_t depth) {
    const std::uint32_t pitch = aicore::row_bytes(rows, kComputed);
    Vector v = row_vector(VectorOp::kBroadcastMul, kComputed, work(), a, depth, rows);
    v.b = x;
    port_.issue(v);
    for (std::uint32_t left = depth; left > 1;) {
      const std::uint32_t half = aicore::divide_up(left, 2U);
      v = row_vector(VectorOp::kAdd, kComputed, work(), work(), left - half, rows);
      v.b = work() + half * pitch;
      v.b_pitch = pitch;
      port_.issue(v);
      left = half;
    }
    add_to_sums(work(), rows);
  }

  AicorePort& port_;
  const GemvWork work_;
  const MatrixA a_;
  Stages stages_;
  std::uint32_t tile_bytes_ = 0, vector_bytes_ = 0;
  std::uint32_t rows_ = 0, depth_ = 0;  // of a tile
};

int kernel(AicorePort& port) {
  Gemv(port, work_from<GemvWork>(aicore::Arguments(port, kWorkWords<GemvWork>))).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const GemvParams& params) {
  if (params.m == 0) return;
  GemvWork work{params.a, params.x, params.y, params.lda, params.m, params.k};
  if (params.m > kMostSide || params.k > kMostSide)
    return stream.refuse("m and k must be below 2^31");
  const std::uint64_t lines = MatrixA::kTransposed ? params.k : params.m;
  const std::uint64_t length = MatrixA::kTransposed ? params.m : params.k;
  if (fractal(kLayoutA) ? work.lda != 0 : work.lda != 0 && work.lda < length) {
    return stream.refuse("lda must be 0, or at least a line of A; of zN and nZ 0");
  }
  if (work.lda == 0) work.lda = length;
  if (lines != 0 && work.lda > aicore::kMostElements / lines) {
    return stream.refuse("lda must stay within the address space");
  }
  if (!aligned(work.a, kTypeA) || !aligned(work.x, kTypeA) || !aligned(work.y, kTypeC)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  if (stream.limits().ub < 32 * 1024) return stream.refuse("UB is smaller than 32 KiB");
  Launches(stream, CoreKind::kVector, block_num)
      .launch(CoreKind::kVector, 0U, work, aicore::divide_up(work.m, Gemv::kGrain));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::GemvWork, npu::kernels::host,
             npu::operators::GemvParams)
