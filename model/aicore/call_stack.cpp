// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/call_stack.hpp"

#include <utility>

namespace npu::model {

void CallStack::launch(const KernelBlock& block) {
  ++generation_;
  block_ = block;
  call_ = {block.image, block.arguments, block.block, block.blocks, block.role};
  depth_ = 0;
  issued_ = 0;
}

CallStack::Caller CallStack::enter(const platform::KernelCall& call) {
  const Caller caller{call_, std::exchange(issued_, 0)};
  call_ = call;
  ++depth_;
  return caller;
}

void CallStack::leave(const Caller& caller) {
  --depth_;
  call_ = caller.call;
  issued_ = caller.issued;
}

// Cores that an executor has called are all of one launch.
bool CallStack::shares_block_with(const CallStack& other, unsigned role) const {
  const platform::KernelCall& theirs = other.call_;
  const bool same_call = other.block_.context == block_.context && other.depth_ == depth_ &&
                         theirs.image == call_.image && theirs.arguments == call_.arguments &&
                         theirs.blocks == call_.blocks;
  if (depth_ == 0) return same_call && (!block_.mixed || theirs.block == call_.block);
  return same_call && theirs.block == call_.block && call_.role == 0 && theirs.role == role;
}

}  // namespace npu::model
