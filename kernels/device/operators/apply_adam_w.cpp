// SPDX-License-Identifier: Apache-2.0
// A step of AdamW in place. NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C: one type of half, bfloat16 or
// float; AdamWParams. half is computed in half, the others in fp32 (kernel-times.md K30). Numbers
// are tensors: the scalar unit reads each, and it becomes as long as a tile before the first one.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/emit.hpp"
#include "kernels/device/vector/functions.hpp"
#include "kernels/device/vector/row_tile.hpp"
#include "kernels/device/vector/scalar_tensor.hpp"
#include "kernels/device/vector/types.hpp"

namespace npu::kernels {

namespace expression {

template <class A, class B>
auto sum(const A& a, const B& b) {
  return binary<VectorOp::kAdd>(a, b);
}
template <class A, class B>
auto difference(const A& a, const B& b) {
  return binary<VectorOp::kSub>(a, b);
}
template <class A, class B>
auto product(const A& a, const B& b) {
  return binary<VectorOp::kMul>(a, b);
}
template <class A, class B>
auto quotient(const A& a, const B& b) {
  return binary<VectorOp::kDiv>(a, b);
}

// Where the numbers are.
struct Numbers {
  Shared beta1, rest1, beta2, rest2, power1, power2, rate, decay, epsilon, one, sign;
};
constexpr unsigned kNumbers = sizeof(Numbers) / sizeof(Shared);

using Variable = Input<0>;
using M = Input<1>;
using V = Input<2>;
using Gradient = Input<3>;

inline auto next_m(const Numbers& n) {
  return sum(product(M{}, n.beta1), product(product(Gradient{}, n.sign), n.rest1));
}
inline auto next_v(const Numbers& n) {
  return sum(product(V{}, n.beta2), product(product(Gradient{}, Gradient{}), n.rest2));
}
// From the next m and v. As libraries have it, what is the same for all elements is computed for
// each of them.
inline auto next_variable(const Numbers& n) {
  const auto bias1 = difference(n.one, product(n.power1, n.beta1));
  const auto bias2 = difference(n.one, product(n.power2, n.beta2));
  const auto root = sum(quotient(sqrt(V{}), sqrt(bias2)), n.epsilon);
  const auto step = quotient(product(quotient(n.rate, bias1), M{}), root);
  return difference(difference(Variable{}, product(Variable{}, product(n.rate, n.decay))), step);
}

}  // namespace expression

namespace {

using vector::kTypeA;
using vector::size_of;

static_assert(is_real(kTypeA) && kTypeA == vector::kTypeC,
              "this operator is of reals in place: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C must be "
              "one of half, bfloat16 and float");

constexpr DataType kComputed = kTypeA == DataType::kFp16 ? DataType::kFp16 : DataType::kFp32;
constexpr bool kCasts = kTypeA != kComputed;
constexpr unsigned kTensors = 4, kResults = 3;  // variable, m, v and, not of results, the gradient
using VariableTree = decltype(expression::next_variable(std::declval<expression::Numbers>()));
constexpr unsigned kRegisters = expression::kNeeds<VariableTree>.registers;
constexpr std::uint32_t kElementBytes =
    kSets * (kTensors + kResults) * size_of(kTypeA) +
    ((kCasts ? kTensors : 0) + expression::kNumbers + kRegisters) * size_of(kComputed);
constexpr std::uint32_t kGrain = 256;  // elements of a tile

class Step {
 public:
  Step(AicorePort& port, const AdamWParams& work, std::uint32_t tile)
      : port_(port), addresses_{work.variable, work.m, work.v, work.gradient}, stages_(port) {
    aicore::UbParts ub;
    for (unsigned i = 0; i < kSets; ++i) {
      for (std::uint32_t& at : in_[i]) at = ub.take(tile * size_of(kTypeA));
      for (std::uint32_t& at : out_[i]) at = ub.take(tile * size_of(kTypeA));
    }
    for (std::uint32_t& at : x_) at = kCasts ? ub.take(tile * size_of(kComputed)) : 0;
    for (std::uint32_t& at : numbers_) at = ub.take(tile * size_of(kComputed));
    register_bytes_ = tile * size_of(kComputed);
    registers_ = ub.take(kRegisters * register_bytes_);
    read(work);
    spread(tile);
  }

  void tile(std::uint64_t at, std::uint32_t count) {
    const AreaTile area{0, at, 1, count};
    const unsigned i = stages_.begin_load();
    for (unsigned k = 0; k < kTensors; ++k) {
      load_rows(port_, in_[i][k], {addresses_[k], 0}, area, kTypeA);
    }
    stages_.loaded(i);
    for (unsigned k = 0; kCasts && k < kTensors; ++k) {
      convert_rows(port_, x_[k], kComputed, in_[i][k], kTypeA, 1, count);
    }
    if (kCasts) stages_.consumed(i);
    const std::uint32_t* const x = kCasts ? x_ : in_[i];
    const unsigned set = stages_.begin_result();
    // The next variable is made while the one before is read, and the gradient no longer.
    const std::uint32_t in_place[kResults] = {x_[3], x_[1], x_[2]};
    const std::uint32_t* const y = kCasts ? in_place : out_[set];
    const auto numbers = places();
    make(expression::next_m(numbers), y[1], x, x, count);
    make(expression::next_v(numbers), y[2], x, x, count);
    make(expression::next_variable(numbers), y[0], x, y, count);
    if (!kCasts) stages_.consumed(i);
    for (unsigned k = 0; kCasts && k < kResults; ++k) {
      convert_rows(port_, out_[set][k], kTypeA, y[k], kComputed, 1, count);
    }
    stages_.computed(set);
    for (unsigned k = 0; k < kResults; ++k) {
      store_rows(port_, {addresses_[k], 0}, area, out_[set][k], kTypeA);
    }
    stages_.stored(set);
  }

 private:
  void read(const AdamWParams& work) {
    const auto real = [&](std::uint64_t address) {
      return vector::load_real(port_, address, kTypeA);
    };
    const float beta1 = real(work.beta1), beta2 = real(work.beta2);
    const float all[] = {beta1,
                         1 - beta1,
                         beta2,
                         1 - beta2,
                         real(work.beta1_power),
                         real(work.beta2_power),
                         real(work.rate),
                         real(work.decay),
                         real(work.epsilon),
                         1,
                         work.maximize != 0 ? -1.0F : 1.0F};
    static_assert(std::size(all) == expression::kNumbers);
    std::copy(std::begin(all), std::end(all), values_);
  }
  void spread(std::uint32_t count) const {
    for (unsigned i = 0; i < expression::kNumbers; ++i) {
      Vector v = row_vector(VectorOp::kDuplicate, kComputed, numbers_[i], 0, 1, count);
      v.scalar = values_[i];
      port_.issue(v);
    }
  }
  expression::Numbers places() const {
    const auto at = [&](unsigned i) { return expression::Shared{{}, numbers_[i]}; };
    return {at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9), at(10)};
  }

  // m and v, or the next ones, are `moments`.
  template <class Tree>
  void make(const Tree& tree, std::uint32_t to, const std::uint32_t* tensors,
            const std::uint32_t* moments, std::uint32_t count) const {
    expression::Emitter<DataType> emitter{{port_, kComputed, count}, kComputed};
    emitter.inputs[0] = tensors[0], emitter.inputs[3] = tensors[3];
    emitter.inputs[1] = moments[1], emitter.inputs[2] = moments[2];
    emitter.first = to;
    emitter.others = registers_;
    emitter.register_bytes = register_bytes_;
    emitter.value(tree);
  }

  AicorePort& port_;
  const std::uint64_t addresses_[kTensors];
  Stages stages_;
  float values_[expression::kNumbers] = {};
  std::uint32_t in_[kSets][kTensors] = {}, out_[kSets][kResults] = {};
  std::uint32_t x_[kTensors] = {}, numbers_[expression::kNumbers] = {};
  std::uint32_t registers_ = 0, register_bytes_ = 0;
};

std::uint32_t most_elements(std::uint64_t ub) {
  return static_cast<std::uint32_t>(ub / kElementBytes / kGrain * kGrain);
}

int kernel(AicorePort& port) {
  const auto work = work_from<AdamWParams>(aicore::Arguments(port, kWorkWords<AdamWParams>));
  const auto& call = port.call();
  const std::uint64_t grains = aicore::divide_up<std::uint64_t>(work.count, kGrain);
  const auto border = [&](std::uint64_t block) {
    return std::min(grains * block / call.blocks * kGrain, work.count);
  };
  const std::uint64_t first = border(call.block), end = border(std::uint64_t{call.block} + 1);
  const std::uint32_t most = most_elements(port.buffer_size(LocalBuffer::kUb));
  const auto tile = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(most, aicore::round_up<std::uint64_t>(end - first, kGrain)));
  {
    Step step(port, work, tile);
    for (std::uint64_t at = first; at < end; at += tile) {
      step.tile(at, static_cast<std::uint32_t>(std::min<std::uint64_t>(tile, end - at)));
    }
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const AdamWParams& params) {
  if (params.count == 0) return;
  if (params.count > aicore::kMostElements) return stream.refuse("count must be below 2^44");
  for (const std::uint64_t address : {params.variable, params.m, params.v, params.gradient,
                                      params.beta1_power, params.beta2_power, params.rate,
                                      params.decay, params.beta1, params.beta2, params.epsilon}) {
    if (address == 0) return stream.refuse("all tensors must be given");
    if (!aligned(address, kTypeA)) {
      return stream.refuse("addresses must be multiples of the elements' sizes");
    }
  }
  if (most_elements(stream.limits().ub) == 0) return stream.refuse("UB is smaller than 64 KiB");
  Launches(stream, CoreKind::kVector, block_num)
      .launch(CoreKind::kVector, 0U, params,
              aicore::divide_up<std::uint64_t>(params.count, kGrain));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::operators::AdamWParams, npu::kernels::host,
             npu::operators::AdamWParams)
