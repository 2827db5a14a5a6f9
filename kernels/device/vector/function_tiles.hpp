// SPDX-License-Identifier: Apache-2.0
// An expression for every element on cores that compute in registers: each operand is loaded once,
// each result stored once, and UB holds nothing in between. Blocks and tiles are those of the
// 950's libraries (docs/sources/950.md, N32).
#pragma once

#include <optional>

#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/emit.hpp"
#include "kernels/device/vector/function_builder.hpp"

namespace npu::kernels::vector {

inline constexpr std::uint64_t kFunctionBlock = 512;   // elements of a block, whole ones
inline constexpr std::uint64_t kFunctionBytes = 4096;  // of an operand, for a core at least
inline constexpr std::uint32_t kFunctionGrain = 256;   // elements of a tile, whole ones
inline constexpr unsigned kFunctionInputs = 4;

// The function that computes an expression. Longer ones are computed in UB.
inline constexpr unsigned kMostSteps = 48;
using ElementFunction = FunctionBuilder<kMostSteps>;

// Steps of a tree as an Emitter's instructions.
template <class Type>
struct FunctionSteps {
  static constexpr bool kInRegisters = true;
  ElementFunction& function;
  Type type;

  // Out of line: one copy of its code.
  [[gnu::noinline]] void issue(VectorOp op, std::uint32_t to, std::uint32_t a, std::uint32_t b,
                               float scalar, platform::Comparison comparison,
                               std::uint32_t mask) const {
    FunctionStep step;
    step.op = op;
    step.type = step.to_type = type;
    step.comparison = comparison;
    step.to = static_cast<std::uint8_t>(to);
    step.a = static_cast<std::uint8_t>(a);
    step.b = static_cast<std::uint8_t>(b);
    step.mask = static_cast<std::uint8_t>(mask);
    step.scalar = scalar;
    function.step(step);
  }
};

// Registers: operands, the same in the type that is computed in, values, constants, the result.
template <class Tree>
constexpr bool fits_function() {
  const expression::TreeNeeds needs = expression::kNeeds<Tree>;
  const unsigned registers = 2 * kFunctionInputs + needs.registers + needs.constants + 1;
  return registers <= platform::kVectorRegisters &&
         expression::kSteps<Tree> + kFunctionInputs + 1 <= kMostSteps;
}

// The steps of an expression on registers 0, 1, ... with its operands. `visit` as that of a Body;
// `fused`: operands are cast from types(input), the value to `result`. Returns the value's
// register.
template <class Types, class Computed, class Visit>
std::uint8_t make_steps(ElementFunction& function, const expression::TreeNeeds& needs, Types types,
                        Computed computed, DataType result, bool fused, Visit visit) {
  std::uint8_t at[kFunctionInputs] = {};
  std::uint8_t next = 0, loaded = 0;
  for (unsigned input = 0; input < kFunctionInputs; ++input) {
    next = static_cast<std::uint8_t>(next + (needs.inputs >> input & 1));
  }
  for (unsigned input = 0; input < kFunctionInputs; ++input) {
    if ((needs.inputs >> input & 1) == 0) continue;
    at[input] = fused ? function.cast(next, computed, loaded, types(input)) : loaded;
    if (at[input] == next) ++next;
    ++loaded;
  }
  const std::uint32_t constants = next + std::max(needs.registers, 1U);
  const auto value = static_cast<std::uint8_t>(visit([&](const auto& tree) {
    using Sink = FunctionSteps<Computed>;
    expression::Emitter<Computed, Sink> emitter{Sink{function, computed}, computed};
    std::copy(at, at + kFunctionInputs, emitter.inputs);
    emitter.register_bytes = 1;
    emitter.first = next;
    emitter.others = next + 1U;
    emitter.constants = constants;
    return emitter.value(tree);
  }));
  const auto last = static_cast<std::uint8_t>(constants + needs.constants);
  return fused ? function.cast(last, result, value, computed) : value;
}

// `Body` as ElementTiles has it; with apart(): casts are functions of their own.
template <class Body>
class FunctionTiles {
 public:
  FunctionTiles(AicorePort& port, const Body& body, const std::uint64_t (&from)[kFunctionInputs],
                std::uint64_t to)
      : port_(port), body_(body), needs_(body.needs()), to_(to), stages_(port) {
    std::copy(from, from + kFunctionInputs, from_);
  }

  // The block's part of so many elements.
  void run(std::uint64_t count) {
    const auto& call = port_.call();
    const std::uint64_t cores =
        std::clamp<std::uint64_t>(count * bytes_of(body_.type) / kFunctionBytes, 1, call.blocks);
    const std::uint64_t part = aicore::round_up(aicore::divide_up(count, cores), kFunctionBlock);
    const std::uint64_t first = std::min(call.block * part, count);
    const std::uint64_t end = std::min(first + part, count);
    tile_ = largest_tile();
    for (std::uint64_t at = first; at < end; at += tile_) {
      tile({0, at, 1, static_cast<std::uint32_t>(std::min<std::uint64_t>(tile_, end - at))});
    }
  }

 private:
  bool used(unsigned input) const { return (needs_.inputs >> input & 1) != 0; }
  unsigned inputs() const {
    unsigned all = 0;
    for (unsigned input = 0; input < kFunctionInputs; ++input) all += used(input) ? 1 : 0;
    return all;
  }

  static std::uint32_t bytes_of(DataType type) {
    return static_cast<std::uint32_t>(platform::bytes_of(type));
  }
  bool casts() const { return body_.type != body_.computed || body_.result != body_.computed; }
  bool apart() const { return casts() && body_.apart(); }

  // Two buffers for each operand and the result, as wide as the widest; of casts by themselves one
  // for each operand and the result in what is computed in.
  std::uint32_t element_bytes() const {
    const std::uint32_t widest = std::max(bytes_of(body_.type), bytes_of(body_.result));
    const std::uint32_t buffers = kSets * (inputs() + 1);
    if (!apart()) return buffers * widest;
    return (buffers + inputs() + 1) * std::max(widest, bytes_of(body_.computed));
  }
  std::uint32_t largest_tile() const {
    const auto ub = static_cast<std::uint32_t>(port_.buffer_size(LocalBuffer::kUb));
    return std::max(ub / element_bytes() / kFunctionGrain, 1U) * kFunctionGrain;
  }

  std::uint32_t operand(unsigned set, unsigned which) const {
    return (set * inputs() + which) * tile_ * bytes_of(body_.type);
  }
  std::uint32_t result(unsigned set) const {
    return operand(kSets, 0) + set * tile_ * bytes_of(body_.result);
  }
  std::uint32_t temporary(unsigned which) const {
    return result(kSets) + which * tile_ * bytes_of(body_.computed);
  }

  void tile(const AreaTile& tile) {
    const unsigned i = stages_.begin_load();
    unsigned which = 0;
    for (unsigned input = 0; input < kFunctionInputs; ++input) {
      if (used(input)) load_rows(port_, operand(i, which++), {from_[input], 0}, tile, body_.type);
    }
    stages_.loaded(i);
    if (!main_) make_function();
    const unsigned set = apart() ? compute_apart(i, tile.columns) : compute(i, tile.columns);
    stages_.computed(set);
    store_rows(port_, {to_, 0}, tile, result(set), body_.result);
    stages_.stored(set);
  }

  unsigned compute(unsigned i, std::uint32_t count) {
    const unsigned set = stages_.begin_result();
    main_->drop_tensors();
    for (unsigned which = 0; which < inputs(); ++which) {
      main_->load(static_cast<std::uint8_t>(which), operand(i, which), body_.type);
    }
    main_->store(result_, result(set), body_.result);
    main_->issue(port_, 1, count);
    stages_.consumed(i);
    return set;
  }

  unsigned compute_apart(unsigned i, std::uint32_t count) {
    for (unsigned which = 0; which < inputs(); ++which) {
      convert(temporary(which), body_.computed, operand(i, which), body_.type, count);
    }
    stages_.consumed(i);
    main_->drop_tensors();
    for (unsigned which = 0; which < inputs(); ++which) {
      main_->load(static_cast<std::uint8_t>(which), temporary(which), body_.computed);
    }
    main_->store(result_, temporary(inputs()), body_.computed);
    main_->issue(port_, 1, count);
    const unsigned set = stages_.begin_result();
    convert(result(set), body_.result, temporary(inputs()), body_.computed, count);
    return set;
  }

  void convert(std::uint32_t to, DataType to_type, std::uint32_t from, DataType type,
               std::uint32_t count) const {
    FunctionBuilder<1> cast;
    cast.load(0, from, type);
    cast.store(cast.cast(1, to_type, 0, type), to, to_type);
    cast.issue(port_, 1, count);
  }

  // Behind the first loads, which take longer.
  void make_function() {
    const auto type = [&](unsigned) -> DataType { return body_.type; };
    result_ = make_steps(main_.emplace(), needs_, type, body_.computed, body_.result, !apart(),
                         [&](auto use) { return body_.visit(use); });
  }

  AicorePort& port_;
  const Body body_;
  const expression::TreeNeeds needs_;
  std::uint64_t from_[kFunctionInputs] = {};
  const std::uint64_t to_;
  Stages stages_;
  std::optional<ElementFunction> main_;
  std::uint8_t result_ = 0;  // register
  std::uint32_t tile_ = 0;   // elements
};

}  // namespace npu::kernels::vector
