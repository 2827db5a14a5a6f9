// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/hazards/hazards.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>

namespace npu::model {

using platform::CrossScope;

namespace {

struct CallChain {
  const void* call;
  const void* object = nullptr;  // that the call is in; null: it has not been reached yet
  std::vector<const void*> callers{};
};

const void* object_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) == 0 ? nullptr : info.dli_fbase;
}

_Unwind_Reason_Code add_caller(_Unwind_Context* context, void* into) {
  auto& chain = *static_cast<CallChain*>(into);
  const auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (chain.object == nullptr) {
    if (address == chain.call) chain.object = object_of(address);
    return _URC_NO_REASON;
  }
  if (object_of(address) != chain.object) return _URC_END_OF_STACK;
  chain.callers.push_back(address);
  return _URC_NO_REASON;
}

// Of the program that is about to do something, whose call of its port is `call`.
std::vector<const void*> callers_of(const void* call) {
  CallChain chain{call};
  if (call != nullptr) _Unwind_Backtrace(&add_caller, &chain);
  return chain.callers;
}

}  // namespace

// --- one call ------------------------------------------------------------------------------

void CallOrder::enter(std::uint32_t block, std::uint32_t role) {
  if (entered_.emplace(block, role).second) return;
  entered_ = {{block, role}};
  flags_.clear();
  memory_.clear();
}

void CallOrder::raise(const CrossFlags::Member& member, unsigned flag, const Clock& clock) {
  auto& members = flags_[{member.scope, member.group, flag}];
  if (members.size() < member.members) members.resize(member.members);
  members[member.place].raises.push_back(clock);
}

void CallOrder::lower(const CrossFlags::Member& member, unsigned flag, Clock& clock) {
  auto& members = flags_[{member.scope, member.group, flag}];
  const std::uint64_t number = members[member.place].waits++;
  const auto hears = [&](std::size_t who, std::size_t whom) {
    return who != whom && (member.scope != CrossScope::kCluster || who == 0 || whom == 0);
  };
  for (std::size_t whom = 0; whom < members.size(); ++whom) {
    if (!hears(member.place, whom)) continue;
    Member& other = members[whom];
    clock.join(other.raises[number - other.forgotten]);
    std::uint64_t heard = UINT64_MAX;
    for (std::size_t who = 0; who < members.size(); ++who) {
      if (hears(who, whom)) heard = std::min(heard, members[who].waits);
    }
    for (; other.forgotten < heard && !other.raises.empty(); ++other.forgotten) {
      other.raises.pop_front();
    }
  }
}

// --- the card ------------------------------------------------------------------------------

PlaceNumber Hazards::place(const HazardPlace& place) {
  const Same same{place.call, place.pipe, place.operation, place.what, place.to, place.id};
  const auto [found, is_new] =
      known_places_.emplace(same, static_cast<PlaceNumber>(places_.size()));
  if (is_new) {
    places_.push_back(place);
    places_.back().callers = callers_of(place.call);
  }
  return found->second;
}

void Hazards::found(const Hazard& hazard) {
  const auto [found, is_new] =
      known_.emplace(Found{hazard.kind, hazard.earlier, hazard.later}, hazards_.size());
  if (is_new) hazards_.push_back(hazard);
  ++hazards_[found->second].times;
}

CallOrder& Hazards::call(std::uint64_t context, const platform::KernelCall& call) {
  return calls_[{context, call.image, call.arguments, call.blocks}];
}

void Hazards::forget(std::uint64_t context) {
  const auto first = calls_.lower_bound(Call{context, 0, 0, 0});
  auto last = first;
  while (last != calls_.end() && std::get<0>(last->first) == context) ++last;
  calls_.erase(first, last);
}

}  // namespace npu::model
