// SPDX-License-Identifier: Apache-2.0
// Whose time slice it is on AI Cores that the functions of a group share
// (abi/partition_registers.hpp): a member gets core time in proportion to its token while others of
// its group want some too, and at most maximum / sum of the tokens of the group's time. A block is
// not interrupted. A function that owns its cores is no member and never waits here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/core/simulation.hpp"

namespace npu::model {

struct GroupMember {
  unsigned group = 0;
  std::uint32_t token = 0;  // 0: it is in no group
  std::uint32_t maximum = 0;
  bool vip = false;
  SimTime timeout = 0;  // of a block; 0: none
  unsigned cores = 0;   // of the group, all of them
};

class CoreTimeSlices {
 public:
  explicit CoreTimeSlices(std::size_t functions) : members_(functions) {}

  void set(unsigned function, const GroupMember& member) {
    members_[function] = {};
    members_[function].member = member;
    members_[function].since = sim_now();
  }
  bool shares(unsigned function) const { return members_[function].member.token != 0; }
  SimTime timeout(unsigned function) const { return members_[function].member.timeout; }
  // Both are members of one group, and the first one's time slice is before the second one's;
  // `tie`: of neither.
  bool before(unsigned a, unsigned b, bool& tie) const {
    const auto &first = members_[a], &second = members_[b];
    tie = a == b || !shares(a) || !shares(b) || first.member.group != second.member.group;
    if (tie) return false;
    if (first.member.vip != second.member.vip) return first.member.vip;
    tie = first.time_slices == second.time_slices;
    return first.time_slices < second.time_slices;
  }
  // It wants cores and has had none: what it did not use before is gone.
  void wants(unsigned function) {
    auto& member = members_[function];
    if (!shares(function) || member.running != 0) return;
    for (const auto& other : members_) {
      const bool mates = other.member.token != 0 && other.member.group == member.member.group;
      if (mates && other.running != 0)
        member.time_slices = std::max(member.time_slices, other.time_slices);
    }
  }
  // When it may start a block: now, or later because it is at its maximum.
  SimTime may_start(unsigned function) {
    auto& member = members_[function];
    const std::uint64_t tokens = sum(member.member.group);
    if (!shares(function) || member.member.maximum >= tokens) return sim_now();
    const std::uint64_t rate = std::uint64_t{member.member.cores} * member.member.maximum;
    // Core time that was due so far; what was not used a round ago is not kept.
    const SimTime due = (sim_now() - member.since) / tokens * rate;
    if (member.used + kRound < due) {
      member.since = sim_now();
      member.used = 0;
      return sim_now();
    }
    return member.used <= due ? sim_now() : sim_now() + (member.used - due) * tokens / rate + 1;
  }
  void started(unsigned function) { ++members_[function].running; }
  void ended(unsigned function, SimTime time) {
    auto& member = members_[function];
    if (member.running != 0) --member.running;
    if (!shares(function)) return;
    member.used += time;
    member.time_slices += time / member.member.token;
  }

 private:
  static constexpr SimTime kRound = 1'000'000'000;  // 1 ms

  struct Turn {
    GroupMember member;
    SimTime since = 0, used = 0;    // core time since then
    std::uint64_t time_slices = 0;  // core time by token
    unsigned running = 0;           // blocks
  };
  std::uint64_t sum(unsigned group) const {
    std::uint64_t tokens = 0;
    for (const auto& other : members_) {
      if (other.member.token != 0 && other.member.group == group) tokens += other.member.token;
    }
    return tokens;
  }

  std::vector<Turn> members_;  // by function
};

}  // namespace npu::model
