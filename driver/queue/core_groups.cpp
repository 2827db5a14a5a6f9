// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/core_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace npu::driver {
namespace {

bool has(const CoreMask& mask, unsigned bit) {
  return (mask[bit / 64] >> bit % 64 & 1) != 0;
}

void set(CoreMask& mask, unsigned bit) {
  mask[bit / 64] |= std::uint64_t{1} << bit % 64;
}

CoreMask both(CoreMask a, const CoreMask& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] &= b[i];
  return a;
}

bool within(const CoreMask& part, const CoreMask& all) {
  return both(part, all) == part;
}

unsigned count(const CoreMask& mask) {
  unsigned bits = 0;
  for (unsigned i = 0; i < kMostCores; ++i) bits += has(mask, i) ? 1 : 0;
  return bits;
}

CoreMask cores_of(const CoreMask& clusters, const CoreGroups::Cores& card) {
  CoreMask mask{};
  for (unsigned i = 0; i < card.clusters; ++i) {
    if (!has(clusters, i)) continue;
    set(mask, i);
    const unsigned first = card.clusters + i * card.vector_cores;
    for (unsigned core = first; core < first + card.vector_cores && core < kMostCores; ++core) {
      set(mask, core);
    }
  }
  return mask;
}

// The lowest `wanted` of those in `from`; fewer if there are not as many.
CoreMask lowest(const CoreMask& from, unsigned wanted) {
  CoreMask mask{};
  for (unsigned i = 0; i < kMostCores && wanted > 0; ++i) {
    if (!has(from, i)) continue;
    set(mask, i);
    --wanted;
  }
  return mask;
}

tl::unexpected<Error> no_group(std::uint32_t id) {
  return fail(ErrorCode::kNotFound, fmt::format("there is no group {}", id));
}

}  // namespace

CoreMask CoreGroups::rest(CoreMask Group::*part) const {
  CoreMask mask = kAllCores;
  for (const auto& [id, group] : groups_) {
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] &= ~(group.*part)[i];
  }
  return mask;
}

Status CoreGroups::check_idle() const {
  unsigned processes = others_;
  for (const auto& [id, group] : groups_) processes += group.processes;
  if (processes == 0) return {};
  return fail(ErrorCode::kBusy, fmt::format("{} processes are open on the card", processes));
}

Result<std::uint32_t> CoreGroups::find_id(std::optional<std::uint32_t> wanted) const {
  if (wanted) {
    if (*wanted == 0 || *wanted >= kComputeGroups) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("group {}, 1 .. {} are possible", *wanted, kComputeGroups - 1));
    }
    if (groups_.count(*wanted) == 0) return *wanted;
    return fail(ErrorCode::kAlreadyExists, fmt::format("group {} is there", *wanted));
  }
  for (std::uint32_t id = 1; id < kComputeGroups; ++id) {
    if (groups_.count(id) == 0) return id;
  }
  return fail(ErrorCode::kOutOfResources, fmt::format("all {} groups exist", kComputeGroups));
}

Result<ComputeGroup> CoreGroups::create(const ComputeGroupOptions& options, const Cores& cores) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  const bool by_mask = options.cluster_mask != CoreMask{};
  if (by_mask == (options.clusters != 0)) {
    return fail(ErrorCode::kInvalidArgument, "clusters by number or by mask, not both");
  }
  const CoreMask all = first_cores(cores.clusters);
  if (!within(options.cluster_mask, all) || options.clusters > cores.clusters) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("the card has {} clusters", cores.clusters));
  }
  const auto id = find_id(options.id);
  if (!id) return forward_error(id);
  if (auto idle = check_idle(); !idle) return forward_error(idle);
  const CoreMask free = both(rest(&Group::clusters), all);
  const CoreMask taken = by_mask ? options.cluster_mask : lowest(free, options.clusters);
  const unsigned wanted = by_mask ? count(taken) : options.clusters;
  if (wanted >= count(free) || !within(taken, free)) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("group 0 has {} clusters, of which one stays", count(free)));
  }
  const auto& made = groups_[*id] = {taken, cores_of(taken, cores), 0};
  return ComputeGroup{*id, taken, made.cores, wanted, wanted * cores.vector_cores, 0};
}

Status CoreGroups::remove(std::uint32_t id) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  if (id == 0) return fail(ErrorCode::kInvalidArgument, "group 0 is what no other group has");
  if (groups_.count(id) == 0) return no_group(id);
  if (auto idle = check_idle(); !idle) return idle;
  groups_.erase(id);
  return {};
}

std::vector<ComputeGroup> CoreGroups::list(const Cores& cores) const {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  std::vector<ComputeGroup> all;
  const auto add = [&](std::uint32_t id, const CoreMask& clusters, unsigned processes) {
    const unsigned number = count(clusters);
    all.push_back(
        {id, clusters, cores_of(clusters, cores), number, number * cores.vector_cores, processes});
  };
  add(0, both(rest(&Group::clusters), first_cores(cores.clusters)), others_);
  for (const auto& [id, group] : groups_) add(id, group.clusters, group.processes);
  return all;
}

Result<CoreMask> CoreGroups::enter(std::uint32_t id) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  if (id >= kComputeGroups) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("group {}, 0 .. {} are possible", id, kComputeGroups - 1));
  }
  if (id == 0) {
    ++others_;
    return groups_.empty() ? kAllCores : rest(&Group::cores);
  }
  const auto found = groups_.find(id);
  if (found == groups_.end()) return no_group(id);
  ++found->second.processes;
  return found->second.cores;
}

void CoreGroups::leave(std::uint32_t id) {
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  --(id == 0 ? others_ : groups_.at(id).processes);
}

Result<GroupMembership> GroupMembership::enter(CoreGroups& groups, std::uint32_t id) {
  const auto cores = groups.enter(id);
  if (!cores) return forward_error(cores);
  GroupMembership made;
  made.groups_ = &groups;
  made.id_ = id;
  made.cores_ = *cores;
  return made;
}

GroupMembership::GroupMembership(GroupMembership&& other) noexcept
    : groups_(std::exchange(other.groups_, nullptr)), id_(other.id_), cores_(other.cores_) {}

GroupMembership& GroupMembership::operator=(GroupMembership&& other) noexcept {
  std::swap(groups_, other.groups_);
  std::swap(id_, other.id_);
  std::swap(cores_, other.cores_);
  return *this;
}

Result<CoreMask> GroupMembership::within(const CoreMask& wanted) const {
  CoreMask mask = wanted;
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] &= cores_[i];
  if (mask != CoreMask{}) return mask;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("a core mask without a core of compute group {}", id_));
}

GroupMembership::~GroupMembership() {
  if (groups_ != nullptr) groups_->leave(id_);
}

}  // namespace npu::driver
