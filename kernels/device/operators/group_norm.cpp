// SPDX-License-Identifier: Apache-2.0
// Groups of channels normalised by their mean and variance. NPU_JIT_ELEMENT_A (from, gamma, beta)
// and NPU_JIT_ELEMENT_C (to): half, bfloat16 or float; GroupNormParams. A group is one core's, read
// twice in tiles of 8192 elements (docs/sources/operators.md B5): sums, then a scale and a shift
// for each channel, which the scalar unit makes. Gamma and beta of all channels are loaded once, if
// they are not too many.
#include <cmath>

#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/row_tile.hpp"
#include "kernels/device/vector/types.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::kTypeC;
using vector::size_of;

static_assert(is_real(kTypeA) && is_real(kTypeC),
              "this operator is of reals: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C must be half, "
              "bfloat16 or float");

struct Work {
  std::uint64_t from = 0, to = 0, gamma = 0, beta = 0;
  std::uint64_t groups = 0;    // of all
  std::uint32_t channels = 0;  // of a group
  std::uint32_t of_batch = 0;  // channels
  std::uint32_t size = 0;      // elements of a channel
  std::uint32_t tile = 0;      // elements
  float epsilon = 0;
  std::uint32_t piece = 0;  // channels whose gamma and beta are there at a time

  bool keeps_tables() const { return of_batch <= piece; }
};

constexpr bool kCasts = kTypeA != DataType::kFp32;
// Results have buffers of their own, or lie where sums were.
constexpr bool kOwnResults = kCasts && kTypeC != DataType::kFp32;
constexpr std::uint32_t kLargestTile = 8192;  // kernel-times.md K34
constexpr std::uint32_t kPiece = 256, kLargePiece = 1024;
constexpr std::uint64_t kLargeUb = 128 * 1024;
constexpr std::uint32_t kBlock =
    aicore::kLocalAlignment / std::min(size_of(kTypeA), size_of(kTypeC));
constexpr std::uint32_t kFp32 = 4;  // bytes
// Of UB: inputs, the tile in fp32, which its squares may take the place of, two sums, results.
constexpr std::uint32_t kElementBytes = kSets * size_of(kTypeA) + 3 * kFp32 +
                                        (kOwnResults ? kSets * size_of(kTypeC)
                                         : kCasts    ? kFp32
                                                     : 0);
constexpr std::uint32_t table_bytes(std::uint32_t piece) {
  return 4 * piece * kFp32 + 2 * aicore::kLocalAlignment;
}

class Groups {
 public:
  Groups(AicorePort& port, const Work& work) : port_(port), work_(work), stages_(port) {
    aicore::UbParts ub;
    for (unsigned i = 0; i < kSets; ++i) in_[i] = ub.take(work.tile * size_of(kTypeA));
    squares_ = ub.take(work.tile * kFp32);
    x_ = kCasts && !kOwnResults ? ub.take(work.tile * kFp32) : squares_;
    for (std::uint32_t& at : sums_) at = ub.take(work.tile * kFp32);
    for (unsigned i = 0; i < kSets; ++i) {
      out_[i] = kOwnResults ? ub.take(work.tile * size_of(kTypeC)) : sums_[i];
    }
    for (unsigned i = 0; i < 2; ++i) {
      stored_table_[i] = ub.take(work.piece * kFp32);
      table_[i] = ub.take(work.piece * kFp32);
      number_[i] = ub.take(kFp32);
    }
  }

  void run() {
    if (work_.keeps_tables()) {
      load_table(0, work_.gamma, 0, work_.of_batch);
      load_table(1, work_.beta, 0, work_.of_batch);
    }
    const std::uint64_t share = aicore::divide_up<std::uint64_t>(work_.groups, port_.call().blocks);
    const std::uint64_t first = port_.call().block * share;
    for (std::uint64_t i = first; i < std::min(first + share, work_.groups); ++i) group(i);
  }

 private:
  void group(std::uint64_t index) {
    first_channel_ = index * work_.channels;
    add_up();
    const float count = static_cast<float>(elements());
    const float mean = number(0) / count;
    const float variance = number(1) / count - mean * mean;
    mean_ = mean;
    factor_ = 1 / std::sqrt((variance < 0 ? 0 : variance) + work_.epsilon);
    vector::ScalarTrip(port_).end();
    const std::uint32_t most = work_.keeps_tables() ? work_.channels : work_.piece;
    for (std::uint32_t first = 0; first < work_.channels; first += most) {
      piece(first, std::min(most, work_.channels - first));
    }
    if (kOwnResults) return;
    // The next group's sums lie where results are stored from.
    for (unsigned i = 0; i < kSets; ++i) {
      const unsigned set = stages_.begin_result();
      stages_.computed(set);  // a flag is set again when the wait for it is over
      stages_.stored(set);
    }
  }
  std::uint64_t elements() const { return std::uint64_t{work_.channels} * work_.size; }

  // The sums of all and of their squares, begun with the first tile.
  void add_up() {
    for (std::uint64_t at = 0; at < elements(); at += work_.tile) {
      const auto count =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(work_.tile, elements() - at));
      const unsigned i = stages_.begin_load();
      vector::load_tile(port_, in_[i],
                        {work_.from + first_channel_ * work_.size * size_of(kTypeA), 0, at},
                        {0, 1, count, count}, kTypeA);
      stages_.loaded(i);
      at == 0 ? begin_sums(i, count) : add_tile(i, count);
    }
    const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(work_.tile, elements()));
    const vector::Flat whole(port_, most);
    for (unsigned i = 0; i < 2; ++i) whole.issue(VectorOp::kReduceSum, number_[i], sums_[i]);
    static_cast<void>(vector::ScalarTrip(port_).read(number_[0]));
  }
  void begin_sums(unsigned i, std::uint32_t count) const {
    const vector::Flat all(port_, count);
    if constexpr (kCasts) {
      all.cast(sums_[0], DataType::kFp32, in_[i], kTypeA);
    } else {
      all.scalar(VectorOp::kAdds, sums_[0], in_[i], 0);
    }
    stages_.consumed(i);
    all.issue(VectorOp::kMul, sums_[1], sums_[0], sums_[0]);
  }
  void add_tile(unsigned i, std::uint32_t count) const {
    const vector::Flat all(port_, count);
    const std::uint32_t x = kCasts ? x_ : in_[i];
    if constexpr (kCasts) {
      all.cast(x_, DataType::kFp32, in_[i], kTypeA);
      stages_.consumed(i);
    }
    all.issue(VectorOp::kAdd, sums_[0], sums_[0], x);
    all.issue(VectorOp::kMul, squares_, x, x);
    if constexpr (!kCasts) stages_.consumed(i);
    all.issue(VectorOp::kAdd, sums_[1], sums_[1], squares_);
  }
  float number(unsigned i) const { return real_at(number_[i]); }
  float real_at(std::uint32_t offset) const {
    const std::uint32_t bits = port_.load_ub(offset);
    float real = 0;
    std::memcpy(&real, &bits, sizeof real);
    return real;
  }

  // gamma (0) or beta of channels of a batch.
  void load_table(unsigned which, std::uint64_t address, std::uint64_t channel,
                  std::uint32_t count) const {
    if (address == 0) return;
    vector::load_tile(port_, stored_table_[which], {address, 0, channel}, {0, 1, count, count},
                      kTypeA);
    const Flag<Pipe::kMte2, Pipe::kVector> there(port_, kSets + which);
    there.set();
    there.wait();
    convert_rows(port_, table_[which], DataType::kFp32, stored_table_[which], kTypeA, 1, count);
  }

  void piece(std::uint32_t first, std::uint32_t channels) {
    const std::uint64_t channel = first_channel_ % work_.of_batch + first;
    begin_ = work_.keeps_tables() ? static_cast<std::uint32_t>(channel) : 0;
    if (!work_.keeps_tables() && (work_.gamma | work_.beta) != 0) {
      load_table(0, work_.gamma, channel, channels);
      load_table(1, work_.beta, channel, channels);
      static_cast<void>(vector::ScalarTrip(port_).read(table_[0]));
      vector::ScalarTrip(port_).end();
    }
    const std::uint32_t length = std::max(std::min(work_.size, work_.tile), 1U);
    const std::uint32_t rows = work_.tile / aicore::round_up(length, kBlock);
    for (std::uint32_t row = 0; row < channels; row += std::max(rows, 1U)) {
      for (std::uint64_t at = 0; at < work_.size; at += length) {
        const auto columns =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(length, work_.size - at));
        scale({first_channel_ + first + row, std::min(std::max(rows, 1U), channels - row), columns,
               aicore::round_up(columns, kBlock)},
              row, at);
      }
    }
  }

  // Whole channels, or a part of one; `row`: the first one's place in the piece.
  void scale(const vector::RowTile& tile, std::uint32_t row, std::uint64_t at) {
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, in_[i], {work_.from, work_.size, at}, tile, kTypeA);
    stages_.loaded(i);
    const vector::Flat all(port_, tile.count());
    if constexpr (kCasts) {
      all.cast(x_, DataType::kFp32, in_[i], kTypeA);
      stages_.consumed(i);
    }
    unsigned set = 0;
    if constexpr (kTypeC == DataType::kFp32) set = stages_.begin_result();
    const std::uint32_t x = kCasts ? x_ : in_[i];
    const std::uint32_t y = kTypeC == DataType::kFp32 ? out_[set] : x_;
    const vector::Flat each(port_, tile.columns);
    for (std::uint32_t k = 0; k < tile.rows; ++k) {
      const float gamma = work_.gamma == 0 ? 1 : real_at(table_[0] + (begin_ + row + k) * kFp32);
      const float beta = work_.beta == 0 ? 0 : real_at(table_[1] + (begin_ + row + k) * kFp32);
      const std::uint32_t skip = k * tile.pitch * kFp32;
      each.scalar(VectorOp::kMuls, y + skip, x + skip, factor_ * gamma);
      each.scalar(VectorOp::kAdds, y + skip, y + skip, beta - mean_ * factor_ * gamma);
    }
    if constexpr (!kCasts) stages_.consumed(i);
    if constexpr (kTypeC != DataType::kFp32) {
      set = stages_.begin_result();
      all.cast(out_[set], kTypeC, x_, DataType::kFp32);
    }
    stages_.computed(set);
    vector::store_tile(port_, {work_.to, work_.size, at}, tile, out_[set], kTypeC);
    stages_.stored(set);
  }

  AicorePort& port_;
  const Work work_;
  Stages stages_;
  std::uint32_t in_[kSets] = {}, sums_[2] = {}, out_[kSets] = {};
  std::uint32_t squares_ = 0, x_ = 0;
  std::uint32_t stored_table_[2] = {}, table_[2] = {}, number_[2] = {};
  std::uint64_t first_channel_ = 0;  // of the group
  std::uint32_t begin_ = 0;          // of the piece, in the tables
  float mean_ = 0, factor_ = 0;
};

int kernel(AicorePort& port) {
  const auto work = work_from<Work>(aicore::Arguments(port, kWorkWords<Work>));
  Groups(port, work).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const GroupNormParams& params) {
  if (params.batch == 0 || params.channels == 0 || params.size == 0) return;
  if (params.groups == 0 || params.channels % params.groups != 0) {
    return stream.refuse("the number of groups must divide that of channels");
  }
  if (params.channels > kMostSide || params.size > kMostSide ||
      std::uint64_t{params.channels} * params.size > aicore::kMostElements / params.batch) {
    return stream.refuse("sides must be below 2^31, elements below 2^44");
  }
  if (!aligned(params.from, kTypeA) || !aligned(params.to, kTypeC) ||
      !aligned(params.gamma, kTypeA) || !aligned(params.beta, kTypeA)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  const std::uint64_t ub = stream.limits().ub;
  if (ub < 16 * 1024) return stream.refuse("UB is smaller than 16 KiB");
  Work work;
  work.from = params.from, work.to = params.to;
  work.gamma = params.gamma, work.beta = params.beta;
  work.groups = std::uint64_t{params.batch} * params.groups;
  work.channels = params.channels / params.groups;
  work.of_batch = params.channels;
  work.size = params.size;
  work.epsilon = params.epsilon;
  work.piece = ub < kLargeUb ? kPiece : kLargePiece;
  const std::uint64_t fits = (ub - table_bytes(work.piece)) / kElementBytes / kBlock * kBlock;
  work.tile = static_cast<std::uint32_t>(std::min<std::uint64_t>(fits, kLargestTile));
  // Whole shares: the last core may have fewer groups.
  Launches launches(stream, CoreKind::kVector, block_num);
  const std::uint64_t share = aicore::divide_up<std::uint64_t>(work.groups, launches.own_cores());
  launches.launch(CoreKind::kVector, 0U, work, aicore::divide_up(work.groups, share));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::GroupNormParams)
