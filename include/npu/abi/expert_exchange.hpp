// SPDX-License-Identifier: Apache-2.0
// The words that the driver gives to the kernel `vector_collective` by which vector cores bring
// tokens to the experts of other cards, and back. Both write into the peers' windows
// (abi/vector_collective.hpp). The parts of a launch with an odd number are apart from those of one
// with an even number.
//
// kDispatch: each rank copies the rows of its tokens into the windows of the ranks that have the
// chosen experts, and then tells each rank how many there are for each of its experts. A receiver
// brings the rows into the order of its experts, and of the ranks they come from.
//
// kCombine: each rank copies the rows that its experts have made back to the ranks they came from.
// There they lie by expert, and of an expert by token. Each rank adds up the rows of its tokens.
#pragma once

#include <array>
#include <cstdint>

#include "npu/abi/element.hpp"
#include "npu/abi/vector_collective.hpp"

namespace npu::abi {

struct ExpertExchange {
  static constexpr unsigned kMostExperts = 1024, kMostChosen = 16;
  static constexpr unsigned kMostTokens = 512;  // of a rank
  static constexpr unsigned kMostHidden = 8192;
  static constexpr unsigned kTensors = 7;
  // Rows in a window begin at whole lines of the L2. A quantised one has its scale behind it.
  static constexpr std::uint64_t kRowGrain = 512, kScale = 32;

  VectorCollectiveKind kind = VectorCollectiveKind::kDispatch;
  ElementType type = ElementType::kFp16;  // of tokens
  bool quantised = false;                 // rows of kDispatch become int8 with a scale each
  std::uint8_t rank = 0, ranks = 1;
  std::uint8_t chosen = 1;                    // experts of a token
  std::uint64_t number = 0;                   // of the launch: 1, 2, ...
  std::uint64_t timeout = 0;                  // of each wait, ns
  std::uint64_t half = 0;                     // bytes of a half
  std::uint32_t tokens = 0, most_tokens = 0;  // of this rank, of any rank
  std::uint32_t hidden = 0, experts = 0;      // elements of a token; experts of all ranks
  // Addresses. kDispatch: tokens, choices; rows, scales, ends, groups, places.
  // kCombine: rows, groups, places, weights, addend (0: none); result.
  std::array<std::uint64_t, kTensors> tensors{};

  // The experts of a rank.
  constexpr std::uint32_t own() const { return experts / ranks; }
  constexpr std::uint32_t choices() const { return tokens * chosen; }
  // Bytes from row to row in a window.
  constexpr std::uint64_t pitch() const {
    const bool narrow = quantised && kind == VectorCollectiveKind::kDispatch;
    const std::uint64_t bytes =
        narrow ? hidden + kScale : std::uint64_t{hidden} * element_size(type);
    return (bytes + kRowGrain - 1) / kRowGrain * kRowGrain;
  }
  // Of a half: what peers may write.
  constexpr std::uint64_t window_bytes() const {
    const bool sends = kind == VectorCollectiveKind::kDispatch;
    return pitch() * most_tokens * (sends ? experts : chosen);
  }

  static constexpr unsigned kTensorsAt = 6,
                            kWords = kTensorsAt + kTensors;  // before the windows' addresses

  std::array<std::uint64_t, kWords> words() const {
    const auto byte = [](auto value, unsigned at) {
      return static_cast<std::uint64_t>(value) << (8 * at);
    };
    const auto pair = [](std::uint64_t low, std::uint64_t high) { return low | high << 32; };
    std::array<std::uint64_t, kWords> all{byte(kind, 0) | byte(type, 1) | byte(quantised, 2) |
                                              byte(rank, 3) | byte(ranks, 4) | byte(chosen, 5),
                                          number,
                                          timeout,
                                          half,
                                          pair(tokens, most_tokens),
                                          pair(hidden, experts)};
    for (unsigned i = 0; i < kTensors; ++i) all[kTensorsAt + i] = tensors[i];
    return all;
  }
  static ExpertExchange of(const std::array<std::uint64_t, kWords>& words) {
    const auto byte = [&](unsigned at) { return static_cast<std::uint8_t>(words[0] >> (8 * at)); };
    const auto low = [&](unsigned i) { return static_cast<std::uint32_t>(words[i]); };
    const auto high = [&](unsigned i) { return static_cast<std::uint32_t>(words[i] >> 32); };
    ExpertExchange work;
    work.kind = static_cast<VectorCollectiveKind>(byte(0));
    work.type = static_cast<ElementType>(byte(1));
    work.quantised = byte(2) != 0;
    work.rank = byte(3), work.ranks = byte(4), work.chosen = byte(5);
    work.number = words[1], work.timeout = words[2], work.half = words[3];
    work.tokens = low(4), work.most_tokens = high(4);
    work.hidden = low(5), work.experts = high(5);
    for (unsigned i = 0; i < kTensors; ++i) work.tensors[i] = words[kTensorsAt + i];
    return work;
  }
};

// What a rank tells another one in a launch of kDispatch: lines of a cache of their own.
struct ExpertCounts {
  static constexpr unsigned kOfLine = 13;  // counts
  std::uint64_t number = 0;                // of the launch
  std::uint32_t base = 0;  // rows of the sender for the experts before those of the line
  std::array<std::uint32_t, kOfLine> counts{};  // of the sender's rows, expert by expert
};
static_assert(sizeof(ExpertCounts) == 64);

// Of kDispatch's result `groups`, one for each expert of the rank and each rank, in this order.
struct ExpertGroup {
  std::uint32_t count = 0;  // rows
  std::uint32_t base = 0;   // the first one's place among the rows of the rank it came from
};

// Numbers of the line of `places` that a token has: of each choice its place among the rank's rows.
constexpr std::uint32_t expert_place_pitch(std::uint32_t chosen) {
  return (chosen + 15) / 16 * 16;
}

}  // namespace npu::abi
