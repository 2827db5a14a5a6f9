// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/cross_flag_port.hpp"

namespace npu::model {

using abi::FaultCode;
using platform::CrossScope;
using platform::Pipe;

CrossFlags::Member CrossFlagPort::member(CrossScope scope) const {
  const CoreLayout& layout = services_.layout;
  const auto type = layout.type(number_);
  const auto& call = calls_.call();
  CrossFlags::Member member;
  member.context = calls_.block().context;
  member.image = call.image;
  member.arguments = call.arguments;
  member.blocks = call.blocks;
  member.scope = scope;
  if (scope == CrossScope::kCluster) {
    // A cluster may have several blocks of a mixed launch, one after the other.
    member.group = calls_.in_mixed_launch() ? call.block : layout.cluster(number_);
    member.place = layout.role(number_);
    member.members = type == abi::CoreType::kCoupled ? 1 : 3;
    return member;
  }
  const bool second = call.role > 0;  // a vector core of a mixed block
  member.group = static_cast<std::uint32_t>(type);
  member.place = second ? 2 * call.block + call.role - 1 : call.block;
  member.members = second ? 2 * call.blocks : call.blocks;
  return member;
}

void CrossFlagPort::check(CrossScope scope, unsigned flag) {
  const auto place = thread_.at_fault(abi::FaultyField::kFlag, Pipe::kScalar, flag);
  const bool known = scope == CrossScope::kCluster || scope == CrossScope::kSameType;
  if (!known || flag >= platform::kCrossFlags) thread_.raise_fault(FaultCode::kInstruction, place);
  const auto member = this->member(scope);
  // Blocks that have no core of their own could never be waited for.
  if (member.place >= member.members || member.members > services_.layout.cores()) {
    thread_.raise_fault(FaultCode::kFlagDeadlock, place);
  }
}

void CrossFlagPort::raise(CrossScope scope, unsigned flag, SimTime when) {
  services_.cross_flags.raise(member(scope), flag, when + ticks(services_.config.cross_flag));
  listener_.cross_flag_raised(calls_.block().context);
}

void CrossFlagPort::await(CrossScope scope, unsigned flag) {
  std::optional<SimTime> when;
  const SimTime begin = thread_.local();
  while (!(when = lower(scope, flag))) thread_.wait_once(raised_);
  thread_.reach(*when);
  thread_.waited(platform::ScalarWait::kCross, begin);
}

void CrossFlagPort::leave_call() {
  const bool mixed = calls_.call().role > 0;  // its cluster may raise its first flag yet
  if (services_.cross_flags.empty() && !mixed) return;
  for (const auto scope : {CrossScope::kCluster, CrossScope::kSameType}) {
    services_.cross_flags.left(member(scope), mixed && scope == CrossScope::kCluster);
  }
}

}  // namespace npu::model
