// SPDX-License-Identifier: Apache-2.0
// The compute groups of a card (npu/driver/compute_groups.hpp) and who is in them. Knows no card:
// it is told of the cores once somebody wants a group.
#pragma once

#include <map>

#include "driver/support/spin_lock.hpp"
#include "npu/driver/compute_groups.hpp"

namespace npu::driver {

class CoreGroups {
 public:
  struct Cores {
    unsigned clusters = 0;      // 1 .. 256
    unsigned vector_cores = 0;  // of a cluster; 0: coupled
  };

  explicit CoreGroups(platform::Clock& clock) : clock_(clock) {}

  // Errors of the functions of compute_groups.hpp; the cores are the same in every call.
  Result<ComputeGroup> create(const ComputeGroupOptions& options, const Cores& cores);
  Status remove(std::uint32_t id);
  std::vector<ComputeGroup> list(const Cores& cores) const;

  // A process is opened: the cores that its queues may use. kInvalidArgument: an id out of range;
  // kNotFound: no such group.
  Result<CoreMask> enter(std::uint32_t id);
  void leave(std::uint32_t id);  // it was entered

 private:
  struct Group {
    CoreMask clusters{}, cores{};
    unsigned processes = 0;
  };

  Result<std::uint32_t> find_id(std::optional<std::uint32_t> wanted) const;
  Status check_idle() const;
  CoreMask rest(CoreMask Group::*part) const;  // what no group has, of all bits

  platform::Clock& clock_;
  mutable SpinLock lock_;
  std::map<std::uint32_t, Group> groups_;  // that were made
  unsigned others_ = 0;                    // processes in group 0
};

// A process in its group.
class GroupMembership {
 public:
  GroupMembership() = default;
  // Errors: see CoreGroups::enter().
  static Result<GroupMembership> enter(CoreGroups& groups, std::uint32_t id);
  GroupMembership(GroupMembership&& other) noexcept;
  GroupMembership& operator=(GroupMembership&& other) noexcept;
  GroupMembership(const GroupMembership&) = delete;
  GroupMembership& operator=(const GroupMembership&) = delete;
  ~GroupMembership();

  const CoreMask& cores() const { return cores_; }
  // Of the cores that a queue asks for, those that its process may use. kInvalidArgument: none.
  Result<CoreMask> within(const CoreMask& wanted) const;

 private:
  CoreGroups* groups_ = nullptr;
  std::uint32_t id_ = 0;
  CoreMask cores_ = kAllCores;
};

}  // namespace npu::driver
