// SPDX-License-Identifier: Apache-2.0
// What a card tells of an entry of a queue that has ended.
#pragma once

#include <cstdint>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::races {

struct Piece {
  bool host = false;
  bool write = false;
  std::uint64_t address = 0;  // in the address space of its process, or on the bus
  std::uint64_t local = 0;    // of the card's memory
  Bytes size = 0;
};

struct Work {
  enum class Kind : std::uint8_t { kWork, kRecord, kWait };
  std::uint32_t device = 0;
  std::uint32_t queue = 0;
  std::uint64_t index = 0;  // in its queue
  std::uint32_t space = 0;  // address space on the card
  Kind kind = Kind::kWork;
  // kRecord: the value that the signal has now; kWait: what was waited for (abi::WaitCondition).
  std::uint32_t signal = 0, condition = 0;
  std::uint64_t value = 0;
  std::vector<Piece> pieces;
  std::uint32_t label = 0;  // for whoever finds words for it
};

}  // namespace npu::races
