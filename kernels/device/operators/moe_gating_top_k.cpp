// SPDX-License-Identifier: Apache-2.0
// The experts of each token and their weights, from the logits of a router. NPU_JIT_SIGMOID 0:
// scores are the row's softmax, 1: each is a sigmoid. A bias decides which experts are chosen, not
// what they weigh. With groups only experts of the best groups are chosen: a group's worth is the
// sum of its two best. NPU_JIT_ELEMENT_A: half, bfloat16 or float; NPU_JIT_ELEMENT_C: float;
// TensorParams.
//
// A tile is some rows of all experts. One after the other is found, the first of equal ones first,
// and leaves. Groups are rows of their own, since rows then lie without gaps.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/row_tile.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

#ifndef NPU_JIT_SIGMOID
#define NPU_JIT_SIGMOID 2
#endif

namespace npu::kernels {
namespace {

using platform::Comparison;
using vector::kTypeA;

static_assert(NPU_JIT_SIGMOID == 0 || NPU_JIT_SIGMOID == 1, "NPU_JIT_SIGMOID must be 0 or 1");
static_assert(is_real(kTypeA), "logits are half, bfloat16 or float: NPU_JIT_ELEMENT_A");
static_assert(vector::kTypeC == DataType::kFp32, "weights are float: NPU_JIT_ELEMENT_C");

constexpr bool kSigmoid = NPU_JIT_SIGMOID == 1;
constexpr float kBeyond = 1U << 30;  // all places
constexpr float kOut = -3e38F;       // below all scores
constexpr float kNotKept = 1e30F;    // is taken from those of other groups
constexpr std::uint32_t kMostExperts = 2048, kMostRows = 64, kNumber = 4, kBlock = 8;

struct Work {
  std::uint64_t from = 0, bias = 0, weights = 0, places = 0;
  std::uint32_t rows = 0, experts = 0, k = 0, groups = 1, kept = 1;
  std::uint32_t normalised = 0;
  float scale = 1;
  std::uint32_t most_rows = 1;

  std::uint32_t pitch() const { return aicore::round_up(experts, kBlock); }
  std::uint32_t loaded_bytes() const { return aicore::row_bytes(experts, kTypeA); }
  bool grouped() const { return kept < groups; }
  // Bytes of UB: of a row, and of none.
  std::uint32_t row_bytes() const {
    return kSets * loaded_bytes() + pitch() * (6 * kNumber + 1) +
           kNumber * (8 * groups + 6 * aicore::round_up(k, kBlock));
  }
  std::uint32_t fixed_bytes() const { return kNumber * kBlock * (8 * groups + 6 * k) + 4096; }
};

// Rows in UB without gaps, and what they are looked through with.
struct Found {
  std::uint32_t rows = 0, columns = 0, places = 0;  // places: 0, 1, ... in each row
};

class Gating {
 public:
  Gating(AicorePort& port, const Work& work) : port_(port), work_(work), stages_(port) {
    const std::uint32_t rows = aicore::round_up(work.most_rows, kBlock), k = work.k;
    const std::uint32_t tile = work.most_rows * work.pitch() * kNumber;
    aicore::UbParts ub;
    for (auto& in : in_) in = ub.take(work.most_rows * work.loaded_bytes());
    for (auto* at : {&scores_, &keys_, &spare_, &places_, &group_places_, &bias_}) {
      *at = ub.take(tile);
    }
    mask_ = ub.take(tile / 8);
    numbers_ = rows;
    for (auto* at : {&group_best_, &group_next_, &group_found_, &group_count_, &group_cut_}) {
      *at = ub.take(rows * work.groups * kNumber);
    }
    for (auto* at : {&found_, &found_places_}) *at = ub.take(rows * k * kNumber);
    for (auto* at : {&best_, &sum_}) *at = ub.take(rows * kNumber);
    const std::uint32_t out =
        std::max(work.most_rows * aicore::row_bytes(k, DataType::kFp32), rows * kNumber);
    for (auto* at : {&out_, &out_places_}) *at = ub.take(out);
    make_places(places_, work.most_rows, work.experts, work.pitch());
    if (!work.grouped()) return;
    const std::uint32_t size = work.experts / work.groups;
    make_places(group_places_, work.most_rows * work.groups, size, size);
    make_places(group_count_, work.most_rows, work.groups, work.groups);
  }

  void run() {
    load_bias();
    aicore::for_rows(port_.call(), work_.rows, work_.most_rows,
                     [&](std::uint32_t first, std::uint32_t rows) { tile(first, rows); });
  }

 private:
  // 0, 1, ... in the first row, then the others. The scalar unit writes the first block.
  void make_places(std::uint32_t at, std::uint32_t rows, std::uint32_t columns,
                   std::uint32_t pitch) const {
    for (std::uint32_t i = 0; i < kBlock; ++i) port_.store_ub(at + i * kNumber, i);
    vector::ScalarTrip(port_).end();
    for (std::uint32_t made = kBlock; made < columns;) {
      const std::uint32_t more = std::min(made, pitch - made);
      Vector v = row_vector(VectorOp::kAdds, DataType::kInt32, at + made * kNumber, at, 1, more);
      v.scalar = static_cast<float>(made);
      port_.issue(v);
      made += more;
    }
    for (std::uint32_t made = 1; made < rows;) {
      const std::uint32_t more = std::min(made, rows - made);
      port_.issue(row_vector(VectorOp::kCopy, DataType::kInt32, at + made * pitch * kNumber, at, 1,
                             more * pitch));
      made += more;
    }
  }
  void load_bias() {
    if (work_.bias == 0) return;
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, bias_, {work_.bias, work_.experts, 0},
                      {0, 1, work_.experts, work_.pitch()}, DataType::kFp32);
    stages_.loaded(i);
    for (std::uint32_t row = 1; row < work_.most_rows; ++row) {
      port_.issue(row_vector(VectorOp::kCopy, DataType::kFp32,
                             bias_ + row * work_.pitch() * kNumber, bias_, 1, work_.experts));
    }
    stages_.consumed(i);
  }

  void tile(std::uint32_t first, std::uint32_t rows) {
    all_ = {0, 0, rows, work_.experts};
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, in_[i], {work_.from, work_.experts, 0},
                      {first, rows, work_.experts, work_.loaded_bytes() / vector::size_of(kTypeA)},
                      kTypeA);
    stages_.loaded(i);
    Vector v = row_vector(kTypeA == DataType::kFp32 ? VectorOp::kCopy : VectorOp::kCast, kTypeA,
                          scores_, in_[i], rows, work_.experts);
    v.to_type = DataType::kFp32;
    v.to_pitch = work_.pitch() * kNumber, v.a_pitch = work_.loaded_bytes();
    port_.issue(v);
    stages_.consumed(i);
    make_scores();
    if (work_.grouped()) keep_groups();
    choose();
    weigh();
    store(first);
  }

  void make_scores() const {
    const auto of_all = [&](VectorOp op, float scalar = 0) {
      element_op(port_, op, scores_, scores_, all_, scalar);
    };
    if (kSigmoid) {
      of_all(VectorOp::kMuls, -1);
      of_all(VectorOp::kExpPrecise);
      of_all(VectorOp::kAdds, 1);
      of_all(VectorOp::kReciprocal);
    } else {
      reduce_rows(port_, VectorOp::kReduceMax, best_, scores_, all_);
      row_op(port_, VectorOp::kBroadcastSub, scores_, scores_, best_, all_);
      of_all(VectorOp::kExpPrecise);
      reduce_rows(port_, VectorOp::kReduceSum, sum_, scores_, all_);
      row_op(port_, VectorOp::kBroadcastDiv, scores_, scores_, sum_, all_);
    }
    if (work_.bias == 0) return element_op(port_, VectorOp::kCopy, keys_, scores_, all_);
    tile_op(port_, VectorOp::kAdd, keys_, scores_, bias_, all_);
  }

  // The largest key of each row, and its place.
  void find(std::uint32_t keys, const Found& of, std::uint32_t best, std::uint32_t place) const {
    const AreaTile area{0, 0, of.rows, of.columns};
    reduce_rows(port_, VectorOp::kReduceMax, best, keys, area);
    row_op(port_, VectorOp::kBroadcast, spare_, spare_, best, area);
    compare(Comparison::kEqual, DataType::kFp32, keys, area);
    select(spare_, of.places, kBeyond, DataType::kInt32, area);
    Vector v =
        row_vector(VectorOp::kReduceMin, DataType::kInt32, place, spare_, of.rows, of.columns);
    v.to_pitch = 0;
    port_.issue(v);
  }
  // A mask of what is, or is not, at each row's place.
  void mark(Comparison comparison, const Found& of, std::uint32_t place) const {
    const AreaTile area{0, 0, of.rows, of.columns};
    row_op(port_, VectorOp::kBroadcast, spare_, spare_, place, area);
    compare(comparison, DataType::kInt32, of.places, area);
  }
  void compare(Comparison comparison, DataType type, std::uint32_t a, const AreaTile& area) const {
    Vector v = row_vector(VectorOp::kCompare, type, mask_, a, area.rows, area.columns);
    v.comparison = comparison;
    v.to_pitch = 0;
    v.b = spare_, v.b_pitch = v.a_pitch;
    port_.issue(v);
  }
  void select(std::uint32_t to, std::uint32_t from, float other, DataType type,
              const AreaTile& area) const {
    Vector v = row_vector(VectorOp::kSelects, type, to, from, area.rows, area.columns);
    v.scalar = other;
    v.mask = mask_;
    port_.issue(v);
  }

  // Keys of the other groups become smaller than any that is kept.
  void keep_groups() const {
    const std::uint32_t size = work_.experts / work_.groups, count = all_.rows * work_.groups;
    const Found of{count, size, group_places_};
    const AreaTile area{0, 0, count, size};
    find(keys_, of, group_best_, group_found_);
    mark(Comparison::kNotEqual, of, group_found_);
    select(spare_, keys_, kOut, DataType::kFp32, area);
    reduce_rows(port_, VectorOp::kReduceMax, group_next_, spare_, area);
    number_op(port_, VectorOp::kAdd, group_best_, group_best_, group_next_, count);
    number_op(port_, VectorOp::kDuplicate, group_cut_, group_cut_, 0, count, kNotKept);
    const Found groups{all_.rows, work_.groups, group_count_};
    const AreaTile row{0, 0, all_.rows, work_.groups};
    for (std::uint32_t i = 0; i < work_.kept; ++i) {
      find(group_best_, groups, best_, sum_);
      mark(Comparison::kNotEqual, groups, sum_);
      select(group_best_, group_best_, kOut, DataType::kFp32, row);
      select(group_cut_, group_cut_, 0, DataType::kFp32, row);
    }
    row_op(port_, VectorOp::kBroadcastSub, keys_, keys_, group_cut_, area);
  }

  void choose() const {
    const Found of{all_.rows, work_.experts, places_};
    for (std::uint32_t i = 0; i < work_.k; ++i) {
      find(keys_, of, best_, at(found_places_, i));
      mark(Comparison::kNotEqual, of, at(found_places_, i));
      select(keys_, keys_, kOut, DataType::kFp32, all_);
      mark(Comparison::kEqual, of, at(found_places_, i));
      select(spare_, scores_, 0, DataType::kFp32, all_);
      reduce_rows(port_, VectorOp::kReduceSum, at(found_, i), spare_, all_);
    }
  }
  std::uint32_t at(std::uint32_t numbers, std::uint32_t i) const {
    return numbers + i * numbers_ * kNumber;
  }

  void weigh() const {
    if (work_.normalised != 0) {
      number_op(port_, VectorOp::kCopy, sum_, found_, 0, numbers_);
      for (std::uint32_t i = 1; i < work_.k; ++i) {
        number_op(port_, VectorOp::kAdd, sum_, sum_, at(found_, i), numbers_);
      }
      for (std::uint32_t i = 0; i < work_.k; ++i) {
        number_op(port_, VectorOp::kDiv, at(found_, i), at(found_, i), sum_, numbers_);
      }
    }
    if (work_.scale == 1) return;
    number_op(port_, VectorOp::kMuls, found_, found_, 0, work_.k * numbers_, work_.scale);
  }

  void store(std::uint32_t first) {
    const unsigned set = stages_.begin_result();
    turn(out_, found_);
    turn(out_places_, found_places_);
    stages_.computed(set);
    const AreaTile tile{first, 0, all_.rows, work_.k};
    store_rows(port_, {work_.weights, work_.k}, tile, out_, DataType::kFp32);
    store_rows(port_, {work_.places, work_.k}, tile, out_places_, DataType::kInt32);
    stages_.stored(set);
  }
  // Numbers of rows, k by k, become rows of k.
  void turn(std::uint32_t to, std::uint32_t from) const {
    Vector v = row_vector(VectorOp::kTranspose, DataType::kInt32, to, from, work_.k, all_.rows);
    v.a_pitch = numbers_ * kNumber;
    v.to_pitch = aicore::row_bytes(work_.k, DataType::kInt32);
    port_.issue(v);
  }

  AicorePort& port_;
  const Work work_;
  StagesOf<kSets, 1> stages_;
  AreaTile all_;  // the tile's rows of all experts
  std::uint32_t in_[kSets] = {}, scores_ = 0, keys_ = 0, spare_ = 0, mask_ = 0, bias_ = 0;
  std::uint32_t places_ = 0, group_places_ = 0, group_count_ = 0;
  std::uint32_t group_best_ = 0, group_next_ = 0, group_found_ = 0, group_cut_ = 0;
  std::uint32_t found_ = 0, found_places_ = 0, best_ = 0, sum_ = 0, out_ = 0, out_places_ = 0;
  std::uint32_t numbers_ = 0;  // of rows, in whole blocks
};

int kernel(AicorePort& port) {
  Gating(port, work_from<Work>(aicore::Arguments(port, kWorkWords<Work>))).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// A reason if it cannot be done.
const char* check(const TensorParams& params) {
  const auto* const side = params.sides;  // rows, experts, k, groups, kept, normalised
  if (side[0] > kMostSide || side[1] > kMostExperts) {
    return "rows must be below 2^31, experts at most 2048";
  }
  if (side[2] > side[1]) return "k is larger than the number of experts";
  if (side[3] == 0 || side[4] == 0 || side[4] > side[3] || side[5] > 1) {
    return "kept is 1 to groups, normalised 0 or 1";
  }
  if (side[4] < side[3]) {
    if (side[3] % kBlock != 0 || side[1] % (side[3] * kBlock) != 0) {
      return "groups and the experts of each must be multiples of 8";
    }
    if (side[2] > side[1] / side[3] * side[4]) return "the kept groups have fewer experts than k";
  }
  if (!aligned(params.inputs[0], kTypeA) || !aligned(params.inputs[1], DataType::kFp32) ||
      !aligned(params.results[0], DataType::kFp32) ||
      !aligned(params.results[1], DataType::kInt32)) {
    return "addresses must be multiples of the elements' sizes";
  }
  return nullptr;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  if (params.sides[0] == 0 || params.sides[2] == 0) return;
  if (const char* const reason = check(params)) return stream.refuse(reason);
  Work work;
  work.from = params.inputs[0], work.bias = params.inputs[1];
  work.weights = params.results[0], work.places = params.results[1];
  work.rows = static_cast<std::uint32_t>(params.sides[0]);
  work.experts = static_cast<std::uint32_t>(params.sides[1]);
  work.k = static_cast<std::uint32_t>(params.sides[2]);
  work.groups = static_cast<std::uint32_t>(params.sides[3]);
  work.kept = static_cast<std::uint32_t>(params.sides[4]);
  if (work.kept == work.groups) work.groups = work.kept = 1;
  work.normalised = static_cast<std::uint32_t>(params.sides[5]);
  work.scale = params.scale;
  Launches launches(stream, CoreKind::kVector, block_num);
  const std::uint64_t ub = stream.limits().ub;
  if (ub < work.fixed_bytes() + std::uint64_t{work.row_bytes()}) {
    return stream.refuse("UB is too small for a row of all experts");
  }
  const auto fit = static_cast<std::uint32_t>((ub - work.fixed_bytes()) / work.row_bytes());
  const std::uint32_t share = aicore::divide_up(work.rows, launches.cores(CoreKind::kVector));
  work.most_rows = std::min({fit, share, kMostRows});
  launches.launch(CoreKind::kVector, 0U, work, work.rows);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
