// SPDX-License-Identifier: Apache-2.0
// Experts on several cards: what Communicator::moe_dispatch() and moe_combine() take and give
// (npu/driver/collectives.hpp). Each rank has tokens of its own, and as many experts as the others:
// rank r has experts r * own .. (r + 1) * own - 1, own = experts / ranks.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/types.hpp"

namespace npu::driver {

// Equal on all ranks but for `tokens`.
struct ExpertShape {
  std::uint32_t tokens = 0;       // of this rank; 0 .. most_tokens
  std::uint32_t most_tokens = 1;  // of any rank; 1 .. 512
  std::uint32_t hidden = 0;       // elements of a token; multiples of 32 up to 8192
  std::uint32_t experts = 0;      // of all ranks, which divide them; up to 1024
  std::uint32_t chosen = 1;       // experts of each token; 1 .. 16
  // moe_dispatch() brings int8 with a scale for each row: x = row * scale.
  bool quantised = false;

  // Rows that may come to a rank, which has at most `most_tokens` of any rank for each expert.
  std::uint64_t most_rows(unsigned ranks) const {
    const std::uint32_t own = experts / ranks;
    return std::uint64_t{ranks} * most_tokens * (chosen < own ? chosen : own);
  }
  // Numbers of `places` that each token has.
  std::uint32_t place_pitch() const { return (chosen + 15) / 16 * 16; }
};

// Bytes that VectorCollectives::half must have for both operations. `element`: of a token.
NPU_API Bytes expert_window(const ExpertShape& shape, Bytes element);

// Device addresses of the rank's process.
struct DispatchTensors {
  // Inputs.
  DeviceAddress tokens;   // tokens x hidden
  DeviceAddress choices;  // tokens x chosen, int32: experts, of a token each another one
  // Results, with room for most_rows() rows.
  DeviceAddress rows;    // x hidden, by expert, then by the rank they come from, then by token
  DeviceAddress scales;  // fp32 for each row; not used unless the shape is quantised
  // In whole lines of 64 bytes, aligned to them.
  DeviceAddress ends;    // own, int64: where the rows of each expert end
  DeviceAddress groups;  // own x ranks x 2, int32: rows that came; where moe_combine() puts them
  DeviceAddress places;  // tokens x place_pitch(), int32: the same of the rank's own rows
};

struct CombineTensors {
  DeviceAddress
      rows;  // what the experts have made of the rows of moe_dispatch(), of the call's type
  DeviceAddress groups;   // of moe_dispatch()
  DeviceAddress places;   // of moe_dispatch()
  DeviceAddress weights;  // tokens x chosen, fp32
  DeviceAddress addend;   // tokens x hidden; 0: none
  DeviceAddress result;   // tokens x hidden: addend + sum of weight * row, made in fp32
};

}  // namespace npu::driver
