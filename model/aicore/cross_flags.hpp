// SPDX-License-Identifier: Apache-2.0
// Flags between cores that run the same call: of a cluster (the cube core's raises reach its
// vector cores, theirs reach it), or of all blocks of one type. Members are known by their place
// in the call, so that a raise may come before the other core has begun.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "model/core/agenda.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::model {

class CrossFlags {
 public:
  struct Member {
    std::uint64_t context = 0;  // of the launch
    std::uint64_t image = 0, arguments = 0;
    std::uint32_t blocks = 0;
    std::uint32_t group = 0;  // cluster or core type
    platform::CrossScope scope = platform::CrossScope::kCluster;
    unsigned place = 0, members = 0;
  };

  void raise(const Member& member, unsigned flag, SimTime when);
  // When the member's next wait for `flag` ends, which lowers it; nothing: not all have raised it.
  std::optional<SimTime> lower(const Member& member, unsigned flag);
  // The member's call has ended; with the last one the flags are forgotten. `counts`: even if none
  // of the members has used a flag yet.
  void left(const Member& member, bool counts);
  // No core runs anything of the launch any more, or will.
  void forget(std::uint64_t context);
  bool empty() const { return groups_.empty(); }
  // Whether blocks of the launch's own program wait for all others of their type.
  bool all_meet(std::uint64_t context, std::uint64_t image) const;

 private:
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t,
                         platform::CrossScope>;
  struct Raises {
    static constexpr unsigned kKept = 16;
    std::uint64_t count = 0, waits = 0;
    std::array<SimTime, kKept> when{};
  };
  struct Group {
    std::array<std::vector<Raises>, platform::kCrossFlags> flags;  // by member; empty: not used
    unsigned left = 0;
  };

  static Key key(const Member& member) {
    return {member.context, member.image, member.arguments,
            member.blocks,  member.group, member.scope};
  }
  std::vector<Raises>& flags(const Member& member, unsigned flag);

  std::map<Key, Group> groups_;
};

}  // namespace npu::model
