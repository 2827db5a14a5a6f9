// SPDX-License-Identifier: Apache-2.0
// The words that the driver gives to a kernel by which vector cores carry out a collective
// operation. Each rank has a window in its card's memory, which the peers' kernels read: flags,
// then two halves in turn, for launches with odd and with even numbers.
//
// A launch has two phases. In the first one each rank copies `rows` rows of its input into its
// half. Then all ranks meet, and each one reads from the peers. kReduceGather has a third: all meet
// again, and each reads the reduced parts of the peers behind the data in their halves.
#pragma once

#include <array>
#include <cstdint>

#include "npu/abi/element.hpp"

namespace npu::abi {

enum class VectorCollectiveKind : std::uint8_t {
  kReduce,  // `bytes` of each rank, at place * bytes in its half, are reduced to `to`
  kGather,  // `bytes` of each rank, at place * bytes in its half, go to `to` + rank * to_pitch
  kReduceGather,  // each rank reduces its part of `bytes`; all parts go to `to`
  kDispatch,      // these have words of their own (abi/expert_exchange.hpp)
  kCombine,
};
inline constexpr unsigned kVectorCollectiveKinds = 3;  // with the words below

struct VectorCollective {
  // The ranks are part of the words, and one launch has at most so many.
  static constexpr unsigned kMostRanks = 64;
  // Of a window: the flags of both meetings, each in a line of its own; what peers tell by lines,
  // of launches with odd and with even numbers; then the halves.
  static constexpr std::uint64_t kFlags = 512, kLines = 16 * 1024;
  static constexpr std::uint64_t kHead = kFlags + 2 * kLines;

  VectorCollectiveKind kind = VectorCollectiveKind::kReduce;
  ElementType type = ElementType::kFp32;
  ReduceOperation reduction = ReduceOperation::kNone;
  std::uint8_t rank = 0, ranks = 1;
  std::uint8_t place = 0;     // 0, or the rank
  std::uint64_t number = 0;   // of the launch: 1, 2, ...
  std::uint64_t timeout = 0;  // of each meeting, ns
  std::uint64_t half = 0;     // bytes of a half
  std::uint64_t from = 0, to = 0;
  std::uint64_t rows = 1, bytes = 0, from_pitch = 0, to_pitch = 0;

  static constexpr unsigned kWords = 9;  // before the windows' addresses, one for each rank

  std::array<std::uint64_t, kWords> words() const {
    const auto byte = [](auto value, unsigned at) {
      return static_cast<std::uint64_t>(value) << (8 * at);
    };
    return {byte(kind, 0) | byte(type, 1) | byte(reduction, 2) | byte(rank, 3) | byte(ranks, 4) |
                byte(place, 5) | byte(rows, 6),
            number,
            timeout,
            half,
            from,
            to,
            bytes,
            from_pitch,
            to_pitch};
  }
  static VectorCollective of(const std::array<std::uint64_t, kWords>& words) {
    const auto byte = [&](unsigned at) { return static_cast<std::uint8_t>(words[0] >> (8 * at)); };
    VectorCollective work;
    work.kind = static_cast<VectorCollectiveKind>(byte(0));
    work.type = static_cast<ElementType>(byte(1));
    work.reduction = static_cast<ReduceOperation>(byte(2));
    work.rank = byte(3);
    work.ranks = byte(4);
    work.place = byte(5);
    work.rows = byte(6);
    work.number = words[1];
    work.timeout = words[2];
    work.half = words[3];
    work.from = words[4];
    work.to = words[5];
    work.bytes = words[6];
    work.from_pitch = words[7];
    work.to_pitch = words[8];
    return work;
  }
};

// Code of the exception by which the kernel ends when a peer has not come in time.
inline constexpr std::uint16_t kVectorCollectiveTimeout = 0xC0;

}  // namespace npu::abi
