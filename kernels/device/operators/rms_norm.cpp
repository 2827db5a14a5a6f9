// SPDX-License-Identifier: Apache-2.0
// Each row divided by the root of the mean of its squares. NPU_JIT_ELEMENT_A (from, gamma) and
// NPU_JIT_ELEMENT_C (to): half, bfloat16 or float; RmsNormParams. Rows that fit into UB are read
// once, longer ones twice.
#include <cmath>
#include <optional>

#include "kernels/device/vector/quantise.hpp"
#include "kernels/device/vector/rms_norm_functions.hpp"
#include "kernels/device/vector/row_buffers.hpp"
#include "kernels/device/vector/row_reduction.hpp"
#include "kernels/device/vector/rows_work.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::kTypeC;
using vector::size_of;

constexpr std::uint32_t kOfInput = size_of(kTypeA), kOfResult = size_of(kTypeC);
constexpr std::uint32_t kOfFp32 = size_of(DataType::kFp32);
constexpr bool kConverted = kTypeA != DataType::kFp32, kNarrowed = kTypeC != DataType::kFp32;

// As the library of operators does it (docs/sources/kernel-times.md K31): one buffer for what is
// loaded, which stays until the rows are divided, and one for what is stored. Short rows go several
// at a time, of longer ones the scalar unit makes the root.
class RmsNormRows {
 public:
  RmsNormRows(AicorePort& port, const vector::RowsWork& work)
      : port_(port), work_(work), parts_(port), stages_(port), piece_(most_rows()) {
    if (piece_ == 0) return;
    const std::uint32_t row = padded(), rows = piece_;
    keeps_gamma_ = kConverted && space(rows, true) <= port.buffer_size(LocalBuffer::kUb);
    aicore::UbParts ub;
    in_ = ub.take(rows * row * kOfInput);
    out_ = ub.take(rows * row * kOfResult);
    y_ = ub.take(rows * row * kOfFp32);
    x_ = kConverted ? ub.take(rows * row * kOfFp32) : in_;
    raw_gamma_ = ub.take(row * kOfInput);
    gamma_ = !kConverted ? raw_gamma_ : keeps_gamma_ ? ub.take(row * kOfFp32) : y_;
    numbers_ = ub.take(rows * kOfFp32);
  }

  // Rows of a tile; 0: not even one fits.
  std::uint32_t piece() const { return piece_; }

  void whole(const AreaTile& at) {
    const vector::RowTile tile{at.row, at.rows, work_.columns, padded()};
    if (!loaded_gamma_) load_gamma();
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, in_, {work_.from, work_.from_pitch}, tile, kTypeA);
    stages_.loaded(i);
    if (made_for_ != tile.rows) make_steps(tile);
    squares_.issue(port_);
    sum_->issue(port_, y_);
    gamma_cast_.issue(port_);
    const unsigned result = stages_.begin_result();
    if (tile.rows == 1) find_root();
    scale_.issue(port_);
    stages_.consumed(i);
    for (std::uint32_t r = 0; work_.gamma != 0 && r < tile.rows; ++r) {
      by_gamma_.to = by_gamma_.a = scaled() + r * tile.pitch * kOfFp32;
      port_.issue(by_gamma_);
    }
    narrow_.issue(port_);
    stages_.computed(result);
    vector::store_tile(port_, {work_.to, work_.to_pitch}, tile, out_, kTypeC);
    stages_.stored(result);
  }

  void end() {}

  // Rows that do not fit are read twice.
  void parts(std::uint32_t row) {
    vector::for_parts(work_, row, parts_.space(), [&](const AreaTile& tile) {
      const unsigned i = stages_.begin_load();
      load_part(tile, false);
      stages_.loaded(i);
      const std::uint32_t x = converted(parts_.in(0), parts_.work(), tile);
      tile_op(port_, VectorOp::kMul, parts_.second_work(), x, x, tile);
      stages_.consumed(i);
      reduce_rows(port_, VectorOp::kReduceSum, parts_.number(tile.column == 0 ? 0 : 1),
                  parts_.second_work(), tile);
      if (tile.column != 0) {
        number_op(port_, VectorOp::kAdd, parts_.number(0), parts_.number(0), parts_.number(1), 1);
      }
    });
    make_root(parts_.number(0));
    vector::for_parts(work_, row, parts_.space(), [&](const AreaTile& tile) { finish_part(tile); });
  }

 private:
  std::uint32_t padded() const {
    return aicore::round_up(work_.columns, aicore::kLocalAlignment / std::min(kOfInput, kOfResult));
  }
  // Bytes of UB.
  std::uint64_t space(std::uint64_t rows, bool gamma) const {
    const std::uint64_t row = padded();
    const std::uint64_t each = kOfInput + kOfResult + (kConverted ? 2 : 1) * kOfFp32;
    const std::uint64_t kept = kOfInput + (gamma && kConverted ? kOfFp32 : 0);
    return rows * row * each + row * kept + aicore::round_up<std::uint64_t>(rows * kOfFp32, 32);
  }
  std::uint32_t most_rows() const {
    constexpr std::uint32_t kMostShort = 2000;
    const std::uint64_t ub = port_.buffer_size(LocalBuffer::kUb);
    if (space(1, false) > ub) return 0;
    if (work_.columns > kMostShort) return 1;
    auto rows =
        static_cast<std::uint32_t>(std::max<std::uint64_t>((ub - 1024) / (16 * padded() + 260), 1));
    while (rows > 1 && space(rows, true) > ub) --rows;
    return rows;
  }
  void load_gamma() {
    loaded_gamma_ = true;
    if (work_.gamma == 0) return;
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, raw_gamma_, {work_.gamma, work_.columns},
                      {0, 1, work_.columns, padded()}, kTypeA);
    stages_.loaded(i);
    if (keeps_gamma_) {
      vector::Flat(port_, work_.columns).cast(gamma_, DataType::kFp32, raw_gamma_, kTypeA);
    }
    stages_.consumed(i);
  }
  // Where rows by their roots are in fp32.
  std::uint32_t scaled() const { return !kNarrowed ? out_ : kConverted ? x_ : y_; }
  // What is the same for all tiles of so many rows.
  void make_steps(const vector::RowTile& tile) {
    made_for_ = tile.rows;
    const std::uint32_t count = tile.count();
    squares_.clear(), scale_.clear(), gamma_cast_.clear(), narrow_.clear();
    if (kConverted) squares_.cast(x_, DataType::kFp32, in_, kTypeA, count);
    squares_.add(VectorOp::kMul, y_, x_, x_, count);
    sum_.emplace(vector::kSum, tile, y_, numbers_);
    if (work_.gamma != 0 && kConverted && !keeps_gamma_) {
      gamma_cast_.cast(gamma_, DataType::kFp32, raw_gamma_, kTypeA, tile.columns);
    }
    if (tile.rows == 1) {
      scale_.add(VectorOp::kMuls, scaled(), x_, 0, count);
    } else {
      scale_.add(VectorOp::kMuls, numbers_, numbers_, 0, tile.rows, share());
      scale_.add(VectorOp::kAdds, numbers_, numbers_, 0, tile.rows, work_.epsilon);
      scale_.add(VectorOp::kSqrt, numbers_, numbers_, 0, tile.rows);
      Vector& roots = scale_.add(
          row_vector(VectorOp::kBroadcast, DataType::kFp32, y_, 0, tile.rows, tile.columns));
      roots.b = numbers_;
      roots.to_pitch = tile.pitch * kOfFp32;
      scale_.add(VectorOp::kDiv, scaled(), x_, y_, count);
    }
    by_gamma_ = row_vector(VectorOp::kMul, DataType::kFp32, 0, 0, 1, tile.columns);
    by_gamma_.b = gamma_;
    if (kNarrowed) narrow_.cast(out_, kTypeC, scaled(), DataType::kFp32, count);
  }
  float share() const { return 1.0F / static_cast<float>(work_.columns); }
  // The scalar unit's part of a single row.
  void find_root() {
    const vector::ScalarTrip trip(port_);
    scale_.last().scalar = 1 / std::sqrt(trip.read(numbers_) * share() + work_.epsilon);
    trip.end();
  }
  // The root of a row's mean, from the sum of its parts.
  void make_root(std::uint32_t sum) const {
    number_op(port_, VectorOp::kMuls, sum, sum, 0, 1, share());
    number_op(port_, VectorOp::kAdds, sum, sum, 0, 1, work_.epsilon);
    number_op(port_, VectorOp::kSqrt, sum, sum, 0, 1);
  }
  // Where a part lies in fp32: where it is, or at `to`.
  std::uint32_t converted(std::uint32_t from, std::uint32_t to, const AreaTile& tile) const {
    if (!kConverted) return from;
    convert_rows(port_, to, DataType::kFp32, from, kTypeA, tile.rows, tile.columns);
    return to;
  }
  void load_part(const AreaTile& tile, bool with_gamma) const {
    load_rows(port_, parts_.in(0), {work_.from, work_.from_pitch}, tile, kTypeA);
    if (!with_gamma || work_.gamma == 0) return;
    load_rows(port_, parts_.second_in(0), {work_.gamma, 0}, {0, tile.column, 1, tile.columns},
              kTypeA);
  }
  void finish_part(const AreaTile& tile) {
    const unsigned i = stages_.begin_load();
    load_part(tile, true);
    stages_.loaded(i);
    const std::uint32_t x = converted(parts_.in(0), parts_.work(), tile);
    row_op(port_, VectorOp::kBroadcastDiv, parts_.work(), x, parts_.number(0), tile);
    if (work_.gamma != 0) {
      const std::uint32_t gamma = converted(parts_.second_in(0), parts_.third_work(), tile);
      tile_op(port_, VectorOp::kMul, parts_.work(), parts_.work(), gamma, tile);
    }
    stages_.consumed(i);
    const unsigned result = stages_.begin_result();
    convert_rows(port_, parts_.out(0), kTypeC, parts_.work(), DataType::kFp32, 1, tile.columns);
    stages_.computed(result);
    store_rows(port_, {work_.to, work_.to_pitch}, tile, parts_.out(0), kTypeC);
    stages_.stored(result);
  }

  AicorePort& port_;
  const vector::RowsWork work_;
  const vector::RowBuffers parts_;  // of a row that does not fit
  StagesOf<1, 1> stages_;
  std::uint32_t in_ = 0, out_ = 0, x_ = 0, y_ = 0, raw_gamma_ = 0, gamma_ = 0, numbers_ = 0;
  std::optional<vector::RowReduction> sum_;
  vector::VectorList<2> squares_;
  vector::VectorList<1> gamma_cast_, narrow_;
  vector::VectorList<5> scale_;
  Vector by_gamma_;
  std::uint32_t made_for_ = 0;  // rows
  const std::uint32_t piece_;
  bool keeps_gamma_ = false, loaded_gamma_ = false;
};

void host(std::uint32_t block_num, OperatorStream& stream, const RmsNormParams& params) {
  vector::RowsWork work;
  work.from = params.from, work.to = params.to, work.gamma = params.gamma;
  work.from_pitch = params.from_pitch, work.to_pitch = params.to_pitch;
  work.rows = params.rows, work.columns = params.columns;
  work.epsilon = params.epsilon;
  vector::run_rows(block_num, stream, work);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR((npu::kernels::vector::rows_kernel<npu::kernels::RmsNormRows,
                                                npu::kernels::vector::RmsNormFunctions>),
             npu::kernels::vector::RowsWork, npu::kernels::host, npu::operators::RmsNormParams)
