// SPDX-License-Identifier: Apache-2.0
// Programs of the cards' cores built a second time, so that they count their instructions
// (counting/). A core that is given one of the programs runs its counted twin instead: the image in
// device memory, its size and its digest are those of the program that the card would run.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "npu/base/byte_span.hpp"

namespace npu::model {

// Of a program's object.
using ProgramDigest = std::array<std::uint8_t, 32>;
ProgramDigest program_digest(ConstByteSpan object);

class CountedPrograms {
 public:
  // Both outlive this.
  void add(ConstByteSpan program, ConstByteSpan counted) { twins_[program_digest(program)] = counted; }
  // Empty: it has none.
  ConstByteSpan find(const ProgramDigest& digest) const {
    const auto found = twins_.find(digest);
    return found == twins_.end() ? ConstByteSpan() : found->second;
  }
  bool empty() const { return twins_.empty(); }

 private:
  std::map<ProgramDigest, ConstByteSpan> twins_;
};

}  // namespace npu::model
