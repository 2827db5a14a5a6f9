// SPDX-License-Identifier: Apache-2.0
// An expression for every element: tiles through UB, operands and results double buffered, what is
// computed in between in registers. Block j of n works on the j-th of n equal parts, in whole 512
// B.
#pragma once

#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/emit.hpp"
#include "kernels/device/vector/function_tiles.hpp"

namespace npu::kernels::vector {

inline constexpr std::uint32_t kGrain = 256;       // elements of a tile: whole 32 B of a mask
inline constexpr std::uint64_t kBlockGrain = 512;  // bytes of an operand
inline constexpr std::uint64_t kSmallest = 2048;   // so that tiles are long beside their fixed cost
inline constexpr unsigned kTiles = 6;  // of a block at least, so that copies overlap computing

constexpr std::uint32_t size_of(DataType type) {
  return static_cast<std::uint32_t>(platform::bytes_of(type));
}
// Bits; the others are whole bytes.
constexpr unsigned operands_of(const expression::TreeNeeds& needs) {
  unsigned operands = 0;
  for (unsigned input = 0; input < 4; ++input) operands += needs.inputs >> input & 1;
  return operands;
}
// Registers beside operands and results. What is not computed in is cast.
constexpr unsigned casts_of(DataType type, DataType computed, const expression::TreeNeeds& needs) {
  return type == computed ? 0 : operands_of(needs);
}
constexpr unsigned registers_of(DataType computed, DataType result,
                                const expression::TreeNeeds& needs) {
  return needs.registers - (computed == result && needs.registers != 0 ? 1 : 0);
}
// Bits of UB for an element.
constexpr std::uint32_t element_bits(DataType type, DataType computed, DataType result,
                                     const expression::TreeNeeds& needs) {
  const unsigned temporaries =
      casts_of(type, computed, needs) + registers_of(computed, result, needs) + needs.constants;
  return 8 * (kSets * (operands_of(needs) * size_of(type) + size_of(result)) +
              temporaries * size_of(computed)) +
         (needs.mask ? 1 : 0);
}

// `Body`: what operands are (type), are computed in (computed) and become (result), Fixed<> or
// DataType; `precise` as the Emitter has it; needs(), and visit(use), which is use(tree).
template <class Body>
class ElementTiles {
 public:
  ElementTiles(AicorePort& port, const Body& body, const std::uint64_t (&from)[4], std::uint64_t to)
      : port_(port), body_(body), needs_(body.needs()), to_(to), stages_(port) {
    std::copy(from, from + 4, from_);
  }

  // The block's part of so many elements.
  void run(std::uint64_t count) {
    const auto& call = port_.call();
    const std::uint64_t grain = kBlockGrain / std::max(size_of(body_.type), 1U);
    const std::uint64_t grains = aicore::divide_up(count, grain);
    const auto border = [&](std::uint64_t block) {
      return std::min(grains * block / call.blocks * grain, count);
    };
    const std::uint64_t first = border(call.block), end = border(std::uint64_t{call.block} + 1);
    const std::uint32_t largest = largest_tile_of(end - first);
    operand_bytes_ = largest * size_of(body_.type);
    result_bytes_ = largest * size_of(body_.result);
    register_bytes_ = largest * size_of(body_.computed);
    for (std::uint64_t at = first; at < end; at += largest) {
      tile({0, at, 1, static_cast<std::uint32_t>(std::min<std::uint64_t>(largest, end - at))},
           at == first);
    }
  }

 private:
  // As many elements as UB holds, or a part that makes enough tiles.
  std::uint32_t largest_tile_of(std::uint64_t elements) const {
    const std::uint64_t bits = 8 * port_.buffer_size(LocalBuffer::kUb);
    const std::uint32_t each = element_bits(body_.type, body_.computed, body_.result, needs_);
    // Of types, which kernels check first. NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
    const std::uint64_t most = bits / each / kGrain * kGrain;
    const auto part =
        std::max<std::uint64_t>(aicore::divide_up<std::uint64_t>(elements, kTiles), 1);
    return static_cast<std::uint32_t>(std::min(aicore::round_up(part, kSmallest), most));
  }

  // UB: operands, results, registers, mask.
  std::uint32_t operand(unsigned set, unsigned which) const {
    return (set * operands_of(needs_) + which) * operand_bytes_;
  }
  std::uint32_t result(unsigned set) const { return operand(kSets, 0) + set * result_bytes_; }
  std::uint32_t temporary(unsigned which) const { return result(kSets) + which * register_bytes_; }

  void tile(const AreaTile& tile, bool first) {
    const unsigned i = stages_.begin_load();
    load(i, tile);
    stages_.loaded(i);
    using Computed = decltype(body_.computed);
    expression::Emitter<Computed> emitter{
        {port_, body_.computed, tile.columns}, body_.computed, body_.precise};
    const bool casts = body_.type != body_.computed;
    place_operands(emitter, i, tile.columns);
    if (casts) stages_.consumed(i);
    unsigned set = 0;
    unsigned next = casts_of(body_.type, body_.computed, needs_);
    const bool as_is = body_.result == body_.computed;
    if (as_is) set = stages_.begin_result();
    emitter.first = as_is ? result(set) : temporary(next++);
    emitter.others = temporary(next);
    emitter.constants = temporary(casts_of(body_.type, body_.computed, needs_) +
                                  registers_of(body_.computed, body_.result, needs_));
    emitter.mask = emitter.constants + needs_.constants * register_bytes_;
    emitter.register_bytes = register_bytes_;
    emitter.makes_constants = first;
    const std::uint32_t value = body_.visit([&](const auto& tree) { return emitter.value(tree); });
    if (!as_is) set = stages_.begin_result();
    if (value != result(set)) {
      convert_rows(port_, result(set), body_.result, value, body_.computed, 1, tile.columns);
    }
    if (!casts) stages_.consumed(i);
    stages_.computed(set);
    store_rows(port_, {to_, 0}, tile, result(set), body_.result);
    stages_.stored(set);
  }

  bool used(unsigned input) const { return (needs_.inputs >> input & 1) != 0; }
  void load(unsigned set, const AreaTile& tile) const {
    unsigned which = 0;
    for (unsigned input = 0; input < 4; ++input) {
      if (!used(input)) continue;
      load_rows(port_, operand(set, which++), {from_[input], 0}, tile, body_.type);
    }
  }
  template <class Emitter>
  void place_operands(Emitter& emitter, unsigned set, std::uint32_t count) const {
    unsigned which = 0;
    for (unsigned input = 0; input < 4; ++input) {
      if (!used(input)) continue;
      emitter.inputs[input] = operand(set, which);
      if (body_.type != body_.computed) {
        emitter.inputs[input] = temporary(which);
        convert_rows(port_, temporary(which), body_.computed, operand(set, which), body_.type, 1,
                     count);
      }
      ++which;
    }
  }

  AicorePort& port_;
  const Body body_;
  const expression::TreeNeeds needs_;
  std::uint64_t from_[4] = {};
  const std::uint64_t to_;
  Stages stages_;
  std::uint32_t operand_bytes_ = 0, result_bytes_ = 0, register_bytes_ = 0;  // of a tile
};

// The block's part of `count` elements, as the core's vector unit computes: in registers or in UB.
template <class Body>
void run_elements(AicorePort& port, const Body& body, const std::uint64_t (&from)[4],
                  std::uint64_t to, std::uint64_t count) {
  const auto fits = [](const auto& tree) { return fits_function<std::decay_t<decltype(tree)>>(); };
  if (port.has_vector_functions() && body.visit(fits)) {
    FunctionTiles<Body>(port, body, from, to).run(count);
  } else {
    ElementTiles<Body>(port, body, from, to).run(count);
  }
}

}  // namespace npu::kernels::vector
