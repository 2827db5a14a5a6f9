// SPDX-License-Identifier: Apache-2.0
// A causal convolution of each channel along a sequence, with a bias and silu. NPU_JIT_ELEMENT_A
// (x, weights, bias) and NPU_JIT_ELEMENT_C: half, bfloat16 or float; TensorParams. Computed in
// fp32. A tile is some tokens of some channels, and the tokens before them.
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
              "this operator is of reals: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C must be half, "
              "bfloat16 or float");

struct Work {
  static constexpr platform::SetUp kSetUp{platform::Tiling::kArguments, false, false};
  std::uint64_t x = 0, weights = 0, bias = 0, to = 0;  // bias: 0: none
  std::uint32_t batch = 0, length = 0, channels = 0, width = 0;
  std::uint32_t tokens = 0, wide = 0;  // of a tile; wide: channels

  std::uint32_t across() const { return aicore::divide_up(channels, wide); }
  std::uint32_t along() const { return aicore::divide_up(length, tokens); }
  std::uint64_t tiles() const { return std::uint64_t{across()} * along() * batch; }
};

constexpr std::uint32_t kWide = 512;   // channels of a tile at most
constexpr std::uint32_t kGrain = 32;   // channels: whole blocks of UB in every type
constexpr std::uint32_t kWidest = 64;  // tokens that a result sees

// Bytes of UB for a channel of `tokens` tokens.
constexpr std::uint64_t channel_bytes(std::uint64_t tokens, std::uint64_t width) {
  const std::uint64_t rows = tokens + width - 1;
  return kSets * (rows * size_of(kTypeA) + tokens * size_of(kTypeC)) +
         (rows + 2 * tokens + width + 1) * size_of(DataType::kFp32) + (width + 1) * size_of(kTypeA);
}

class Tiles {
 public:
  Tiles(AicorePort& port, const Work& work) : port_(port), work_(work), stages_(port) {
    aicore::UbParts ub;
    const std::uint32_t rows = work.tokens + work.width - 1;
    for (auto& at : in_) at = ub.take(rows * work.wide * size_of(kTypeA));
    for (auto& at : out_) at = ub.take(work.tokens * work.wide * size_of(kTypeC));
    x_ = ub.take(rows * work.wide * 4);
    sum_ = ub.take(work.tokens * work.wide * 4);
    product_ = ub.take(work.tokens * work.wide * 4);
    weights_ = ub.take((work.width + 1) * work.wide * 4);
    weights_in_ = ub.take((work.width + 1) * work.wide * size_of(kTypeA));
  }

  // Tiles of the same channels follow one another.
  void run() {
    const auto& call = port_.call();
    const std::uint64_t first = work_.tiles() * call.block / call.blocks;
    const std::uint64_t end = work_.tiles() * (std::uint64_t{call.block} + 1) / call.blocks;
    const Flag<Pipe::kVector, Pipe::kMte2> weights_free(port_, kSets);
    weights_free.set();
    std::uint32_t known = work_.across();
    for (std::uint64_t i = first; i < end; ++i) {
      const auto column =
          static_cast<std::uint32_t>(i / (std::uint64_t{work_.along()} * work_.batch));
      if (column != known) {
        weights_free.wait();
        load_weights(column * work_.wide);
        weights_free.set();
        known = column;
      }
      const auto rest =
          static_cast<std::uint32_t>(i % (std::uint64_t{work_.along()} * work_.batch));
      one(rest / work_.along(), rest % work_.along() * work_.tokens, column * work_.wide);
    }
    weights_free.wait();
  }

 private:
  std::uint32_t columns_at(std::uint32_t channel) const {
    return std::min(work_.wide, work_.channels - channel);
  }
  std::uint32_t row(std::uint32_t at, std::uint32_t index, DataType type) const {
    return at + index * work_.wide * size_of(type);
  }
  // Row `width` is the bias.
  void load_weights(std::uint32_t channel) {
    const std::uint32_t columns = columns_at(channel);
    const Flag<Pipe::kMte2, Pipe::kVector> full(port_, kSets);
    vector::load_tile(port_, weights_in_, {work_.weights, work_.channels, channel},
                      {0, work_.width, columns, work_.wide}, kTypeA);
    if (work_.bias != 0) {
      vector::load_tile(port_, row(weights_in_, work_.width, kTypeA),
                        {work_.bias, work_.channels, channel}, {0, 1, columns, work_.wide}, kTypeA);
    }
    full.set();
    full.wait();
    vector::Flat(port_, (work_.width + 1) * work_.wide)
        .cast(weights_, DataType::kFp32, weights_in_, kTypeA);
  }

  void one(std::uint32_t sequence, std::uint32_t token, std::uint32_t channel) {
    const std::uint32_t columns = columns_at(channel);
    const std::uint32_t tokens = std::min(work_.tokens, work_.length - token);
    const std::uint32_t before = std::min(token, work_.width - 1);  // that there are
    const std::uint32_t missing = work_.width - 1 - before;
    const std::uint64_t at = std::uint64_t{sequence} * work_.length + token;
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, row(in_[i], missing, kTypeA), {work_.x, work_.channels, channel},
                      {at - before, before + tokens, columns, work_.wide}, kTypeA);
    stages_.loaded(i);
    const std::uint32_t rows = before + tokens;
    if (missing != 0) {
      vector::Flat(port_, missing * work_.wide).scalar(VectorOp::kDuplicate, x_, x_, 0);
    }
    vector::Flat(port_, rows * work_.wide)
        .cast(row(x_, missing, DataType::kFp32), DataType::kFp32, row(in_[i], missing, kTypeA),
              kTypeA);
    stages_.consumed(i);
    const vector::Flat all(port_, tokens * work_.wide);
    for (std::uint32_t k = 0; k < work_.width; ++k) {
      const std::uint32_t to = k == 0 ? sum_ : product_;
      multiply_rows(port_, to, row(x_, k, DataType::kFp32), row(weights_, k, DataType::kFp32),
                    tokens, work_.wide, DataType::kFp32);
      if (k != 0) all.issue(VectorOp::kAdd, sum_, sum_, product_);
    }
    for (std::uint32_t t = 0; work_.bias != 0 && t < tokens; ++t) {
      const std::uint32_t sum = row(sum_, t, DataType::kFp32);
      vector::Flat(port_, work_.wide)
          .issue(VectorOp::kAdd, sum, sum, row(weights_, work_.width, DataType::kFp32));
    }
    all.silu(product_, sum_);
    const unsigned set = stages_.begin_result();
    all.cast(out_[set], kTypeC, product_, DataType::kFp32);
    stages_.computed(set);
    vector::store_tile(port_, {work_.to, work_.channels, channel},
                       {at, tokens, columns, work_.wide}, out_[set], kTypeC);
    stages_.stored(set);
  }

  AicorePort& port_;
  const Work work_;
  Stages stages_;
  std::uint32_t in_[kSets] = {}, out_[kSets] = {}, x_ = 0, sum_ = 0, product_ = 0, weights_ = 0,
                weights_in_ = 0;
};

int kernel(AicorePort& port) {
  Tiles(port, work_from<Work>(aicore::Arguments(port, kWorkWords<Work>))).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  const auto* const side = params.sides;  // batch, length, channels, width
  if (side[0] == 0 || side[1] == 0 || side[2] == 0) return;
  for (unsigned i = 0; i < 3; ++i) {
    if (side[i] > kMostSide) return stream.refuse("sides must be below 2^31");
  }
  if (side[3] == 0 || side[3] > kWidest) return stream.refuse("width must be 1 to 64");
  if (side[0] * side[1] > aicore::kMostElements / side[2]) {
    return stream.refuse("the tensor is beyond the address space");
  }
  bool good = aligned(params.results[0], kTypeC);
  for (unsigned i = 0; i < 3; ++i) good = good && aligned(params.inputs[i], kTypeA);
  if (!good) return stream.refuse("addresses must be multiples of the elements' sizes");
  if (params.inputs[1] == 0) return stream.refuse("there are no weights");
  Work work;
  work.x = params.inputs[0], work.weights = params.inputs[1], work.bias = params.inputs[2];
  work.to = params.results[0];
  work.batch = static_cast<std::uint32_t>(side[0]),
  work.length = static_cast<std::uint32_t>(side[1]);
  work.channels = static_cast<std::uint32_t>(side[2]);
  work.width = static_cast<std::uint32_t>(side[3]);
  work.wide = std::min(aicore::round_up(work.channels, kGrain), kWide);
  const std::uint64_t ub = stream.limits().ub;
  while (work.wide > kGrain && channel_bytes(1, work.width) * work.wide + 512 > ub) work.wide /= 2;
  work.wide = std::max(work.wide / kGrain * kGrain, kGrain);
  if (channel_bytes(1, work.width) * work.wide + 512 > ub) {
    return stream.refuse("a token of 32 channels and those before it do not fit into UB");
  }
  work.tokens = 1;
  while (work.tokens < work.length &&
         channel_bytes(work.tokens + 1, work.width) * work.wide + 512 <= ub) {
    ++work.tokens;
  }
  Launches(stream, CoreKind::kVector, block_num).launch(CoreKind::kVector, 0U, work, work.tiles());
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
