// SPDX-License-Identifier: Apache-2.0
// What waits in a pipe for its turn: instructions, flags and barriers, in order.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "model/aicore/copy_chain.hpp"
#include "model/aicore/vector_function.hpp"
#include "model/core/agenda.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::model {

using Instruction = std::variant<platform::CopyIn, platform::CopyOut, platform::LoadL0,
                                 platform::Mmad, platform::Fixpipe, platform::Vector, HeldFunction>;

// It needs no memory.
inline bool stays_local(const Instruction& instruction) {
  const auto* const fixpipe = std::get_if<platform::Fixpipe>(&instruction);
  if (fixpipe != nullptr) return fixpipe->target != platform::FixpipeTarget::kGlobal;
  const auto* const copy = std::get_if<platform::CopyOut>(&instruction);
  return copy != nullptr && copy->target != platform::CopyOutTarget::kGlobal;
}

struct PipeEntry {
  enum class Kind : std::uint8_t {
    kInstruction,
    kSetFlag,       // `peer`: who waits
    kWaitFlag,      // `peer`: who raises
    kBarrier,       // all before it is done
    kSetCrossFlag,  // `peer`: CrossScope
    kWaitCrossFlag,
  };
  Kind kind = Kind::kInstruction;
  std::uint8_t peer = 0;
  std::uint8_t id = 0;
  SimTime issued = 0;
  std::uint32_t number = 0;  // of an instruction, as abi::InstructionPlace has it
  Instruction instruction;
  platform::StoreReduction reduction = {};  // of an instruction that stores to global memory
};

// A ring of `depth` entries. It remembers when the last `depth` of them left, which is when there
// was room for another one.
class PipeQueue {
 public:
  explicit PipeQueue(unsigned depth) : ring_(depth), left_(depth) {}

  bool empty() const { return pushed_ == popped_; }
  bool full() const { return pushed_ - popped_ == ring_.size(); }
  PipeEntry& front() { return ring_[popped_ % ring_.size()]; }
  const PipeEntry& front() const { return ring_[popped_ % ring_.size()]; }
  // When the place of the next entry became free. Not full.
  SimTime room_since() const { return left_[pushed_ % ring_.size()].when; }
  // Why what had it left no earlier.
  const Began& room_after() const { return left_[pushed_ % ring_.size()].after; }
  // The place of the next entry, to be filled in.
  PipeEntry& push() { return ring_[pushed_++ % ring_.size()]; }
  void pop(SimTime when, const Began& after) { left_[popped_++ % ring_.size()] = {when, after}; }
  void clear() {
    pushed_ = popped_ = 0;
    left_.assign(left_.size(), {});
  }

 private:
  std::vector<PipeEntry> ring_;
  struct Left {
    SimTime when = 0;
    Began after;
  };
  std::vector<Left> left_;
  std::uint64_t pushed_ = 0, popped_ = 0;
};

// Raises of one flag that nobody has waited for yet, with their times.
class FlagTimes {
 public:
  static constexpr unsigned kMost = 16;
  bool full() const { return raised_ - lowered_ == kMost; }
  bool raised() const { return raised_ != lowered_; }
  void raise(SimTime when) { times_[raised_++ % kMost] = when; }
  SimTime lower() { return times_[lowered_++ % kMost]; }
  void clear() { raised_ = lowered_ = 0; }

 private:
  SimTime times_[kMost] = {};
  std::uint32_t raised_ = 0, lowered_ = 0;
};

}  // namespace npu::model
