// SPDX-License-Identifier: Apache-2.0
// What a core runs: a block, in it the innermost of the calls that programs have made of each
// other, and how many instructions that one has issued.
#pragma once

#include <cstdint>

#include "model/core/kernel_port.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::model {

class CallStack {
 public:
  // A call that has called another one.
  struct Caller {
    platform::KernelCall call;
    std::uint32_t issued;
  };
  static constexpr unsigned kMostCalls = 4;  // below the launch itself

  // A block begins; whatever was scheduled for the one before is void.
  void launch(const KernelBlock& block);
  // Nothing runs any more.
  void abandon() { ++generation_; }
  // By which a handler knows whether it was scheduled for this block.
  std::uint64_t generation() const { return generation_; }

  bool full() const { return depth_ == kMostCalls; }
  Caller enter(const platform::KernelCall& call);
  void leave(const Caller& caller);
  void count_instruction() { ++issued_; }

  const KernelBlock& block() const { return block_; }
  SpaceId space() const { return block_.vmid; }
  const platform::KernelCall& call() const { return call_; }
  std::uint32_t issued() const { return issued_; }
  // The launch itself, and a mixed one.
  bool in_mixed_launch() const { return depth_ == 0 && block_.mixed; }
  // Both run the same call: as a launch, which gives each core a block of its own, or, of a mixed
  // launch or an executor, as that mixed block in which the other one has the role `role`.
  bool shares_block_with(const CallStack& other, unsigned role) const;

 private:
  KernelBlock block_;
  platform::KernelCall call_;
  std::uint64_t generation_ = 0;
  unsigned depth_ = 0;
  std::uint32_t issued_ = 0;
};

}  // namespace npu::model
