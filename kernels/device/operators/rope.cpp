// SPDX-License-Identifier: Apache-2.0
// x * cos + y * sin of each token's heads, y being x with pairs turned: elements i and i + head /
// 2, or with NPU_JIT_INTERLEAVED 1 neighbours. NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C: reals;
// TensorParams. Computed in fp32. The first elements of pairs lie together in UB, and the second
// ones behind all of them, of x and of the tables alike: neighbours are taken apart there, and put
// back in their order. A token's row of each table serves all of its heads.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/row_unit.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

#ifndef NPU_JIT_INTERLEAVED
#define NPU_JIT_INTERLEAVED 2
#endif

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::kTypeC;
using vector::RowTile;
using vector::RowUnit;
using vector::size_of;

static_assert(NPU_JIT_INTERLEAVED == 0 || NPU_JIT_INTERLEAVED == 1,
              "NPU_JIT_INTERLEAVED must be 0 or 1");
static_assert(is_real(kTypeA) && is_real(kTypeC),
              "this operator is of reals: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C must be half, "
              "bfloat16 or float");
constexpr bool kInterleaved = NPU_JIT_INTERLEAVED == 1;
constexpr std::uint32_t kFour = 4;    // bytes of fp32
constexpr std::uint32_t kGrain = 16;  // elements: a block of the narrowest type
constexpr std::uint32_t kMostRows = 512;
// Bytes of UB for an element of x: loaded twice, apart, in fp32, two products, the result; of
// tables, of which there may be as many: loaded and in fp32, both.
constexpr std::uint32_t kElementBytes = 2 * (3 * size_of(kTypeA)) + 8 * kFour + size_of(kTypeC);

struct Work {
  std::uint64_t from = 0, cos = 0, sin = 0, to = 0;
  std::uint64_t tokens = 0;
  std::uint32_t heads = 0, half = 0;
};

class Heads {
 public:
  Heads(AicorePort& port, const Work& work) : port_(port), work_(work), unit_(port), stages_(port) {
    pitch_ = aicore::round_up(work.half, kGrain);
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    const std::uint32_t fit = std::min(ub / (2 * pitch_ * kElementBytes), kMostRows);
    heads_ = std::min(fit, work.heads);
    area_ = heads_ * pitch_;
    const std::uint32_t all = 2 * area_;
    aicore::UbParts part;
    for (unsigned i = 0; i < kSets; ++i) {
      x_in_[i] = part.take(all * size_of(kTypeA));
      for (auto& table : tables_in_) table[i] = part.take(2 * pitch_ * size_of(kTypeA));
    }
    for (auto* at : {&x_, &cos_, &sin_, &y_, &turned_, &spare_}) *at = part.take(all * kFour);
    out_ = part.take(all * size_of(kTypeC));
  }

  // A token's heads, as many as fit, are a piece.
  void run() {
    const std::uint64_t across = aicore::divide_up(work_.heads, heads_);
    const std::uint64_t pieces = work_.tokens * across;
    const auto& call = port_.call();
    const std::uint64_t end = pieces * (std::uint64_t{call.block} + 1) / call.blocks;
    for (std::uint64_t i = pieces * call.block / call.blocks; i < end; ++i) {
      const auto first = static_cast<std::uint32_t>(i % across) * heads_;
      piece(i / across, first, std::min(heads_, work_.heads - first));
    }
  }

 private:
  void piece(std::uint64_t token, std::uint32_t first, std::uint32_t rows) {
    const unsigned i = stages_.begin_load();
    load(x_in_[i], work_.from, token * work_.heads + first, rows, area_);
    load(tables_in_[0][i], work_.cos, token, 1, pitch_);
    load(tables_in_[1][i], work_.sin, token, 1, pitch_);
    stages_.loaded(i);
    take(x_, x_in_[i], rows, area_);
    take(cos_, tables_in_[0][i], 1, pitch_);
    take(sin_, tables_in_[1][i], 1, pitch_);
    stages_.consumed(i);
    if (!unit_.in_registers()) repeat(rows);
    turn(rows, 0, area_, VectorOp::kSub);
    turn(rows, area_, 0, VectorOp::kAdd);
    const unsigned set = stages_.begin_result();
    put(rows);
    stages_.computed(set);
    store(token * work_.heads + first, rows);
    stages_.stored(set);
  }

  std::uint32_t head_bytes(DataType type) const { return 2 * work_.half * size_of(type); }
  // Rows of whole heads, as they are: neighbours are taken apart in UB. Else each half by itself,
  // the second one `behind` elements after the first.
  void load(std::uint32_t to, std::uint64_t from, std::uint64_t row, std::uint32_t rows,
            std::uint32_t behind) const {
    platform::CopyIn copy;
    copy.rows = rows;
    copy.from_pitch = rows == 1 ? 0 : head_bytes(kTypeA);
    for (unsigned part = 0; part < (kInterleaved ? 1 : 2); ++part) {
      copy.to = {LocalBuffer::kUb, to + part * behind * size_of(kTypeA)};
      copy.from = from + row * head_bytes(kTypeA) + part * head_bytes(kTypeA) / 2;
      copy.row_bytes = kInterleaved ? head_bytes(kTypeA) : head_bytes(kTypeA) / 2;
      copy.to_pitch = (kInterleaved ? 2 : 1) * pitch_ * size_of(kTypeA);
      port_.issue(copy);
    }
  }
  // Both parts in fp32.
  void take(std::uint32_t to, std::uint32_t from, std::uint32_t rows, std::uint32_t behind) const {
    if constexpr (!kInterleaved) {
      for (unsigned part = 0; part < 2; ++part) {
        convert_rows(port_, to + part * behind * kFour, DataType::kFp32,
                     from + part * behind * size_of(kTypeA), kTypeA, 1, rows * pitch_);
      }
      return;
    }
    std::uint32_t whole = from;
    if (kTypeA != DataType::kFp32) {
      convert_rows(port_, spare_, DataType::kFp32, from, kTypeA, 1, rows * 2 * pitch_);
      whole = spare_;
    }
    // Of padded rows the parts are padded as well.
    Vector v =
        row_vector(VectorOp::kDeinterleave, DataType::kFp32, turned_, whole, rows, 2 * pitch_);
    v.to_pitch = v.a_pitch = 2 * pitch_ * kFour;
    port_.issue(v);
    for (unsigned part = 0; part < 2; ++part) {
      v = row_vector(VectorOp::kCopy, DataType::kFp32, to + part * behind * kFour,
                     turned_ + part * pitch_ * kFour, rows, work_.half);
      v.to_pitch = pitch_ * kFour;
      v.a_pitch = 2 * pitch_ * kFour;
      port_.issue(v);
    }
  }
  // A token's numbers for each of its heads.
  void repeat(std::uint32_t rows) const {
    for (const std::uint32_t table : {cos_, sin_}) {
      // The second half first, since the first one's rows reach over its place.
      move(table + area_ * kFour, table + pitch_ * kFour, pitch_);
      for (const std::uint32_t at : {table, table + area_ * kFour}) {
        for (std::uint32_t made = 1; made < rows;) {
          const std::uint32_t more = std::min(made, rows - made);
          move(at + made * pitch_ * kFour, at, more * pitch_);
          made += more;
        }
      }
    }
  }
  void move(std::uint32_t to, std::uint32_t from, std::uint32_t count) const {
    if (to == from) return;
    port_.issue(row_vector(VectorOp::kCopy, DataType::kFp32, to, from, 1, count));
  }

  // One half of the result, from that half and the other one.
  void turn(std::uint32_t rows, std::uint32_t own, std::uint32_t other, VectorOp op) {
    const std::uint32_t table = unit_.in_registers() ? pitch_ : area_;
    const std::uint32_t at = (own == 0 ? 0 : table) * kFour;
    unit_.begin({0, rows, work_.half, pitch_});
    const auto by_cos = unit_.make({VectorOp::kMul}, unit_.own(x_ + own * kFour),
                                   unit_.shared(cos_ + at), y_ + own * kFour);
    const auto by_sin = unit_.make({VectorOp::kMul}, unit_.own(x_ + other * kFour),
                                   unit_.shared(sin_ + at), turned_);
    unit_.keep(unit_.make({op}, by_cos, by_sin, y_ + own * kFour), y_ + own * kFour);
    unit_.end();
  }

  // In the type of the result; neighbours beside each other again.
  void put(std::uint32_t rows) const {
    if constexpr (kInterleaved) {
      for (std::uint32_t row = 0; row < rows; ++row) {
        Vector v =
            row_vector(VectorOp::kTranspose, DataType::kFp32, spare_ + row * 2 * pitch_ * kFour,
                       y_ + row * pitch_ * kFour, 2, work_.half);
        v.a_pitch = area_ * kFour;
        v.to_pitch = 0;
        port_.issue(v);
      }
      convert_rows(port_, out_, kTypeC, spare_, DataType::kFp32, 1, rows * 2 * pitch_);
      return;
    }
    for (unsigned part = 0; part < 2; ++part) {
      convert_rows(port_, out_ + part * area_ * size_of(kTypeC), kTypeC, y_ + part * area_ * kFour,
                   DataType::kFp32, 1, rows * pitch_);
    }
  }
  void store(std::uint64_t row, std::uint32_t rows) const {
    platform::CopyOut copy;
    copy.rows = rows;
    copy.to_pitch = rows == 1 ? 0 : head_bytes(kTypeC);
    for (unsigned part = 0; part < (kInterleaved ? 1 : 2); ++part) {
      copy.to = work_.to + row * head_bytes(kTypeC) + part * head_bytes(kTypeC) / 2;
      copy.from = {LocalBuffer::kUb, out_ + part * area_ * size_of(kTypeC)};
      copy.row_bytes = kInterleaved ? head_bytes(kTypeC) : head_bytes(kTypeC) / 2;
      copy.from_pitch = (kInterleaved ? 2 : 1) * pitch_ * size_of(kTypeC);
      port_.issue(copy);
    }
  }

  AicorePort& port_;
  const Work work_;
  RowUnit unit_;
  StagesOf<kSets, 1> stages_;
  std::uint32_t pitch_ = 0, heads_ = 0;  // of a half in UB; of a piece
  std::uint32_t area_ = 0;               // elements of one half of all heads of a piece
  std::uint32_t x_in_[kSets] = {}, tables_in_[2][kSets] = {};
  std::uint32_t x_ = 0, cos_ = 0, sin_ = 0, y_ = 0, turned_ = 0, spare_ = 0, out_ = 0;
};

int kernel(AicorePort& port) {
  Heads(port, work_from<Work>(aicore::Arguments(port, kWorkWords<Work>))).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  const std::uint64_t tokens = params.sides[0], heads = params.sides[1], head = params.sides[2];
  if (tokens == 0 || heads == 0 || head == 0) return;
  if (head % 2 != 0 || tokens > kMostSide || heads > kMostSide ||
      aicore::round_up<std::uint64_t>(head / 2, kGrain) * 2 * kElementBytes > stream.limits().ub) {
    return stream.refuse("a head has an even number of elements and fits into UB some times");
  }
  bool good = aligned(params.results[0], kTypeC);
  for (unsigned i = 0; i < 3; ++i) {
    good = good && params.inputs[i] != 0 && aligned(params.inputs[i], kTypeA);
  }
  if (!good) return stream.refuse("addresses must be multiples of the elements' sizes, and not 0");
  Work work;
  work.from = params.inputs[0], work.cos = params.inputs[1], work.sin = params.inputs[2];
  work.to = params.results[0];
  work.tokens = tokens;
  work.heads = static_cast<std::uint32_t>(heads), work.half = static_cast<std::uint32_t>(head / 2);
  Launches(stream, CoreKind::kVector, block_num)
      .launch(CoreKind::kVector, 0U, work, tokens * heads);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
