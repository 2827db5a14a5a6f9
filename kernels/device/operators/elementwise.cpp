// SPDX-License-Identifier: Apache-2.0
// NPU_JIT_EXPRESSION, a C++ expression over inputs a, b, c, d, scalars s, s1, s2, s3 and numbers,
// for every element. NPU_JIT_ELEMENT_A (all inputs) and NPU_JIT_ELEMENT_C (result); VectorParams.
// Operators + - * / and comparisons; exp, ln, sqrt, rsqrt, reciprocal, abs, relu, max, min,
// sigmoid, silu, gelu and where(comparison, then, otherwise). Reals are computed in fp32, int8 in
// int32; scalars are floats, to integers they are rounded.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/emit.hpp"
#include "kernels/device/vector/functions.hpp"
#include "kernels/device/vector/types.hpp"

#ifndef NPU_JIT_EXPRESSION
#define NPU_JIT_EXPRESSION 0
#error "NPU_JIT_EXPRESSION must be an expression over a, b, c, d, s, s1, s2, s3 and numbers"
#endif

namespace npu::kernels {

namespace expression {

// As trees; the names are those that expressions use.
inline auto make(const float (&scalars)[4]) {
  [[maybe_unused]] const Input<0> a;
  [[maybe_unused]] const Input<1> b;
  [[maybe_unused]] const Input<2> c;
  [[maybe_unused]] const Input<3> d;
  [[maybe_unused]] const Scalar s = scalars[0], s1 = scalars[1], s2 = scalars[2], s3 = scalars[3];
  return node(NPU_JIT_EXPRESSION);
}

}  // namespace expression

namespace {

using vector::kComputed;
using vector::kTypeA;
using vector::kTypeC;

using Tree = decltype(expression::make(std::declval<const float (&)[4]>()));
using NeedsOfTree = expression::Needs<Tree>;

static_assert((kTypeA == DataType::kInt64) == (kTypeC == DataType::kInt64),
              "int64 is converted to and from nothing: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C");

constexpr std::uint32_t size_of(DataType type) {
  return static_cast<std::uint32_t>(platform::bytes_of(type));
}

class Tiles {
 public:
  Tiles(AicorePort& port, const VectorParams& work)
      : port_(port), work_(work), tree_(expression::make(work.scalars)), stages_(port) {
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    largest_ = std::min(kMost, ub / kBytes / kGrain * kGrain);
  }
  static constexpr std::uint32_t kGrain = 512;  // elements: whole 512 B of all types
  // Of UB for an element: inputs and result twice, inputs as computed, registers, a bit of a mask.
  static constexpr std::uint32_t kBytes = kSets * (4 * size_of(kTypeA) + size_of(kTypeC)) +
                                          (4 + NeedsOfTree::kRegisters + 1) * size_of(kComputed);

  static constexpr bool used(unsigned input) { return (NeedsOfTree::kInputs >> input & 1) != 0; }

  void run() {
    const std::uint64_t grains = aicore::divide_up<std::uint64_t>(work_.count, kGrain);
    const auto border = [&](std::uint64_t block) {
      const std::uint64_t blocks = port_.call().blocks;
      // Without products of two large numbers.
      const std::uint64_t grain = grains / blocks * block + grains % blocks * block / blocks;
      return std::min(grain * kGrain, work_.count);
    };
    const std::uint64_t end = border(std::uint64_t{port_.call().block} + 1);
    for (std::uint64_t at = border(port_.call().block); at < end; at += largest_) {
      tile(at, static_cast<std::uint32_t>(std::min<std::uint64_t>(largest_, end - at)));
    }
  }

 private:
  static constexpr std::uint32_t kMost = 16 * 1024;  // elements of a tile

  std::uint32_t in(unsigned set, unsigned input) const {
    return (set * 4 + input) * largest_ * size_of(kTypeA);
  }
  std::uint32_t out(unsigned set) const {
    return (kSets * 4 * size_of(kTypeA) + set * size_of(kTypeC)) * largest_;
  }
  std::uint32_t computed(unsigned which) const {
    return (kSets * (4 * size_of(kTypeA) + size_of(kTypeC)) + which * size_of(kComputed)) *
           largest_;
  }

  void tile(std::uint64_t at, std::uint32_t count) {
    const unsigned i = stages_.begin_load();
    for (unsigned input = 0; input < 4; ++input) {
      if (used(input))
        load_rows(port_, in(i, input), {work_.inputs[input], 0}, {0, at, 1, count}, kTypeA);
    }
    stages_.loaded(i);
    expression::Emitter<kComputed> emitter{port_};
    for (unsigned input = 0; input < 4; ++input) {
      const bool as_it_is = kTypeA == kComputed;
      emitter.inputs[input] = as_it_is ? in(i, input) : computed(input);
      if (used(input) && !as_it_is) {
        convert_rows(port_, computed(input), kComputed, in(i, input), kTypeA, 1, count);
      }
    }
    emitter.registers = computed(4);
    emitter.register_bytes = largest_ * size_of(kComputed);
    emitter.mask = computed(4 + NeedsOfTree::kRegisters);
    emitter.count = count;
    emitter.precise = kTypeC == DataType::kFp32;
    const unsigned set = stages_.begin_result();
    if constexpr (kTypeC == kComputed) {
      emitter.result(tree_, out(set));
    } else {
      convert_rows(port_, out(set), kTypeC, emitter.value(tree_, 0), kComputed, 1, count);
    }
    stages_.consumed(i);
    stages_.computed(set);
    store_rows(port_, {work_.to, 0}, {0, at, 1, count}, out(set), kTypeC);
    stages_.stored(set);
  }

  AicorePort& port_;
  const VectorParams work_;
  const Tree tree_;
  Stages stages_;
  std::uint32_t largest_ = 0;  // elements
};

int kernel(AicorePort& port) {
  Tiles(port, work_from<VectorParams>(aicore::Arguments(port, kWorkWords<VectorParams>))).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const VectorParams& params) {
  if (params.count == 0) return;
  if (params.count > aicore::kMostElements) return stream.refuse("count must be below 2^44");
  bool good = aligned(params.to, kTypeC);
  for (const auto input : params.inputs) good = good && aligned(input, kTypeA);
  for (unsigned input = 0; input < 4; ++input) {
    if (Tiles::used(input) && params.inputs[input] == 0) {
      return stream.refuse("the expression names an input that was not given");
    }
  }
  if (!good) return stream.refuse("addresses must be multiples of the elements' sizes");
  if (stream.limits().ub / Tiles::kBytes < Tiles::kGrain) {
    return stream.refuse("UB is too small for an expression with so many values at a time");
  }
  Launches(stream, CoreKind::kVector, block_num)
      .launch(CoreKind::kVector, 0U, params,
              aicore::divide_up<std::uint64_t>(params.count, Tiles::kGrain));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::operators::VectorParams, npu::kernels::host,
             npu::operators::VectorParams)
