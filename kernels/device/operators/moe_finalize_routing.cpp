// SPDX-License-Identifier: Apache-2.0
// Rows that experts have made, back in the order of the tokens: each token's ones, times their
// weights, added up, and `more` beside them if it is given. NPU_JIT_ELEMENT_A (rows) and
// NPU_JIT_ELEMENT_C (result and what is more): half, bfloat16 or float; TensorParams. The scalar
// unit reads weights and places.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/row_tile.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::kTypeC;
using vector::size_of;

static_assert(is_real(kTypeA) && is_real(kTypeC),
              "this operator is of reals: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C");

constexpr std::uint32_t kNumber = 4;
constexpr std::uint32_t kLeastWide = 512;  // columns of a tile
// Bytes of UB of an element: two sets of inputs, a term, the sum, the result.
constexpr std::uint32_t kElementBytes =
    kSets * std::max(size_of(kTypeA), size_of(kTypeC)) + 2 * kNumber + size_of(kTypeC);

struct Work {
  std::uint64_t rows = 0, weights = 0, places = 0, more = 0, to = 0;  // more: 0: none
  std::uint32_t tokens = 0, columns = 0, k = 0;
  std::uint32_t wide = 0;  // columns of a tile
};

class Sums {
 public:
  Sums(AicorePort& port, const Work& work) : port_(port), work_(work), stages_(port) {
    aicore::UbParts ub;
    const std::uint32_t widest = std::max(size_of(kTypeA), size_of(kTypeC));
    for (auto& in : in_) in = ub.take(work.wide * widest);
    for (auto* at : {&term_, &sum_}) *at = ub.take(work.wide * kNumber);
    out_ = ub.take(work.wide * size_of(kTypeC));
  }

  // False: a place is beyond the rows.
  bool run() {
    bool good = true;
    for_area(port_.call(), work_.tokens, work_.columns, {0, 0, 1, work_.wide},
             [&](const AreaTile& tile) { good = good && one(tile); });
    return good;
  }

 private:
  struct Choice {
    std::uint32_t row = 0;
    float weight = 0;
    bool here = false;
  };
  bool one(const AreaTile& tile) {
    begin(tile);
    for (std::uint32_t i = 0; i < work_.k; ++i) {
      const Choice choice = read(tile.row * work_.k + i);
      if (!choice.here) continue;
      if (choice.row >= work_.tokens * work_.k) return false;
      const std::uint32_t x = load(work_.rows, {choice.row, tile.column, 1, tile.columns}, kTypeA);
      Vector v = row_vector(VectorOp::kAxpy, DataType::kFp32, sum_, x, 1, tile.columns);
      v.scalar = choice.weight;
      v.b = sum_;
      port_.issue(v);
      if (x != term_) stages_.consumed(set_);
    }
    const unsigned set = stages_.begin_result();
    convert_rows(port_, out_, kTypeC, sum_, DataType::kFp32, 1, tile.columns);
    stages_.computed(set);
    store_rows(port_, {work_.to, work_.columns}, tile, out_, kTypeC);
    stages_.stored(set);
    return true;
  }
  void begin(const AreaTile& tile) {
    if (work_.more == 0) {
      return element_op(port_, VectorOp::kDuplicate, sum_, sum_, {0, 0, 1, tile.columns});
    }
    const std::uint32_t x = load(work_.more, tile, kTypeC);
    element_op(port_, VectorOp::kCopy, sum_, x, {0, 0, 1, tile.columns});
    if (x != term_) stages_.consumed(set_);
  }
  // Where it lies in fp32: in place, and the set is still used, or as a term.
  std::uint32_t load(std::uint64_t from, const AreaTile& tile, DataType type) {
    set_ = stages_.begin_load();
    load_rows(port_, in_[set_], {from, work_.columns}, tile, type);
    stages_.loaded(set_);
    if (type == DataType::kFp32) return in_[set_];
    convert_rows(port_, term_, DataType::kFp32, in_[set_], type, 1, tile.columns);
    stages_.consumed(set_);
    return term_;
  }
  Choice read(std::uint64_t choice) {
    const std::uint64_t place = work_.places + choice * kNumber;
    const std::uint64_t weight = work_.weights + choice * kNumber;
    if (place / abi::kCacheLine != line_) {
      port_.clean_invalidate(place);
      line_ = place / abi::kCacheLine;
    }
    if (weight / abi::kCacheLine != weight_line_) {
      port_.clean_invalidate(weight);
      weight_line_ = weight / abi::kCacheLine;
    }
    Choice to;
    const auto row = static_cast<std::int32_t>(port_.load(place, kNumber));
    to.here = row >= 0;
    to.row = static_cast<std::uint32_t>(row);
    const auto bits = static_cast<std::uint32_t>(port_.load(weight, kNumber));
    std::memcpy(&to.weight, &bits, sizeof bits);
    return to;
  }

  AicorePort& port_;
  const Work work_;
  StagesOf<kSets, 1> stages_;
  unsigned set_ = 0;
  std::uint64_t line_ = UINT64_MAX, weight_line_ = UINT64_MAX;
  std::uint32_t in_[kSets] = {}, term_ = 0, sum_ = 0, out_ = 0;
};

int kernel(AicorePort& port) {
  const bool good = Sums(port, work_from<Work>(aicore::Arguments(port, kWorkWords<Work>))).run();
  port.pipe_barrier(Pipe::kAll);
  return good ? 0 : aicore::kBadArguments;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  const auto* const side = params.sides;  // tokens, columns, k
  if (side[0] == 0 || side[1] == 0) return;
  if (side[0] > kMostSide || side[1] > kMostSide || side[2] > kMostSide ||
      side[0] * side[2] > kMostSide) {
    return stream.refuse("columns and all choices must be below 2^31");
  }
  if (!aligned(params.inputs[0], kTypeA) || !aligned(params.inputs[1], DataType::kFp32) ||
      !aligned(params.inputs[2], DataType::kInt32) || !aligned(params.inputs[3], kTypeC) ||
      !aligned(params.results[0], kTypeC)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  if (stream.limits().ub < 32 * 1024) return stream.refuse("UB is smaller than 32 KiB");
  Work work;
  work.rows = params.inputs[0], work.weights = params.inputs[1], work.places = params.inputs[2];
  work.more = params.inputs[3], work.to = params.results[0];
  work.tokens = static_cast<std::uint32_t>(side[0]);
  work.columns = static_cast<std::uint32_t>(side[1]), work.k = static_cast<std::uint32_t>(side[2]);
  Launches launches(stream, CoreKind::kVector, block_num);
  // Few tokens are cut so that all cores have a part.
  const std::uint64_t most = (stream.limits().ub - 1024) / kElementBytes / 64 * 64;
  const std::uint64_t parts =
      aicore::divide_up<std::uint64_t>(launches.cores(CoreKind::kVector), work.tokens);
  const std::uint64_t part =
      aicore::round_up(aicore::divide_up<std::uint64_t>(work.columns, parts), std::uint64_t{64});
  work.wide = static_cast<std::uint32_t>(std::min(most, std::max<std::uint64_t>(part, kLeastWide)));
  launches.launch(CoreKind::kVector, 0U, work,
                  work.tokens * aicore::divide_up<std::uint64_t>(work.columns, work.wide));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
