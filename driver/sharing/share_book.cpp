// SPDX-License-Identifier: Apache-2.0
#include "driver/sharing/share_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/support/spin_lock.hpp"

namespace npu::driver {
namespace {

bool holds(const AddressSpace::Impl& space, MemoryHandle memory) {
  const MutexHolder holder(space.memory.mutex());
  return space.space != nullptr && space.space->held().holds(memory);
}

bool was_opened(const AddressSpace::Impl& space, MemoryHandle memory) {
  return std::find(space.opened.begin(), space.opened.end(), memory) != space.opened.end();
}

tl::unexpected<Error> not_there(const std::string& what) {
  return fail(ErrorCode::kNotFound, fmt::format("no share {}", what));
}

Status check_name(const std::string& name) {
  if (name.size() > MemoryShares::kLongestName) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("a name of {} bytes; the longest has {}",
                                                         name.size(), MemoryShares::kLongestName));
  }
  if (name.find('\0') != std::string::npos) {
    return fail(ErrorCode::kInvalidArgument, "a name with a zero byte");
  }
  return {};
}

}  // namespace

// One whose owner has given the memory up is none any more.
ShareBook::Shares::iterator ShareBook::find(std::uint64_t key) {
  const auto share = shares_.find(key);
  if (share == shares_.end() || holds(*share->second.owner, share->second.memory)) return share;
  erase(share);
  return shares_.end();
}

void ShareBook::erase(Shares::iterator share) {
  if (!share->second.name.empty()) names_.erase(share->second.name);
  shares_.erase(share);
}

void ShareBook::sweep() {
  for (auto share = shares_.begin(); share != shares_.end();) {
    const auto next = std::next(share);
    if (!holds(*share->second.owner, share->second.memory)) erase(share);
    share = next;
  }
}

Result<ShareKey> ShareBook::add(AddressSpace::Impl& owner, MemoryHandle memory,
                                const ShareOptions& options) {
  if (auto ok = check_name(options.name); !ok) return forward_error(ok);
  const MutexHolder holder(*mutex_);
  if (&owner.link.platform() != &platform_) {
    return fail(ErrorCode::kInvalidArgument, "the space is of another machine");
  }
  if (const auto named = names_.find(options.name); named != names_.end()) {
    if (find(named->second) != shares_.end()) {
      return fail(ErrorCode::kAlreadyExists, fmt::format("a share '{}'", options.name));
    }
  }
  {
    const MutexHolder memory_holder(owner.memory.mutex());
    if (owner.space == nullptr || !owner.space->held().holds(memory)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("the space holds no memory {}.{}", memory.index, memory.generation));
    }
    if (was_opened(owner, memory)) {
      return fail(ErrorCode::kPermissionDenied,
                  fmt::format("memory {}.{} is shared by its owner alone", memory.index,
                              memory.generation));
    }
    if (owner.shares && owner.shares.get() != this) {
      return fail(ErrorCode::kInvalidArgument, "the space shares memory elsewhere");
    }
    owner.shares = shared_from_this();
  }
  if (shares_.size() >= sweep_at_) {
    sweep();
    sweep_at_ = std::max(sweep_at_, 2 * shares_.size());
  }
  shares_[++keys_] = {&owner, memory, options.name, options.everyone, {}};
  if (!options.name.empty()) names_[options.name] = keys_;
  return ShareKey{keys_};
}

Result<ShareBook::Shares::iterator> ShareBook::find_own(const AddressSpace::Impl& owner,
                                                        ShareKey key) {
  const auto share = find(key.value);
  if (share == shares_.end()) return not_there(std::to_string(key.value));
  if (share->second.owner == &owner) return share;
  return fail(ErrorCode::kPermissionDenied, fmt::format("share {} is another space's", key.value));
}

Status ShareBook::admit(const AddressSpace::Impl& owner, ShareKey key, ProcessId process,
                        bool may) {
  if (process == ProcessId{}) return fail(ErrorCode::kInvalidArgument, "process 0 is nobody");
  const MutexHolder holder(*mutex_);
  const auto share = find_own(owner, key);
  if (!share) return forward_error(share);
  auto& admitted = (*share)->second.admitted;
  if (may) {
    admitted.insert(process.value);
  } else {
    admitted.erase(process.value);
  }
  return {};
}

Status ShareBook::remove(const AddressSpace::Impl& owner, ShareKey key) {
  const MutexHolder holder(*mutex_);
  const auto share = find_own(owner, key);
  if (!share) return forward_error(share);
  erase(*share);
  return {};
}

Result<MemoryHandle> ShareBook::open(AddressSpace::Impl& into, ShareKey key) {
  const MutexHolder holder(*mutex_);
  const auto share = find(key.value);
  if (share == shares_.end()) return not_there(std::to_string(key.value));
  return open(into, share);
}

Result<MemoryHandle> ShareBook::open(AddressSpace::Impl& into, std::string_view name) {
  const MutexHolder holder(*mutex_);
  const auto named = names_.find(name);
  const auto share = named == names_.end() ? shares_.end() : find(named->second);
  if (share == shares_.end()) return not_there(fmt::format("'{}'", name));
  return open(into, share);
}

Result<MemoryHandle> ShareBook::open(AddressSpace::Impl& into, Shares::iterator share) {
  const auto& offer = share->second;
  const bool own = into.process != ProcessId{} && into.process == offer.owner->process;
  if (!offer.everyone && !own && offer.admitted.count(into.process.value) == 0) {
    return fail(ErrorCode::kPermissionDenied, fmt::format("process {} is not admitted to share {}",
                                                          into.process.value, share->first));
  }
  auto memory = import_into(into, *offer.owner, offer.memory);
  if (!memory) return memory;
  const MutexHolder holder(into.memory.mutex());
  if (into.space == nullptr) return memory;
  auto& opened = into.opened;
  opened.erase(std::remove_if(opened.begin(), opened.end(),
                              [&](MemoryHandle known) { return !into.space->held().holds(known); }),
               opened.end());
  opened.push_back(*memory);
  return memory;
}

std::size_t ShareBook::count() {
  const MutexHolder holder(*mutex_);
  sweep();
  return shares_.size();
}

void ShareBook::forget(const AddressSpace::Impl& owner) {
  const MutexHolder holder(*mutex_);
  for (auto share = shares_.begin(); share != shares_.end();) {
    const auto next = std::next(share);
    if (share->second.owner == &owner) erase(share);
    share = next;
  }
}

void ShareBook::forget_all() {
  const MutexHolder holder(*mutex_);
  shares_.clear();
  names_.clear();
}

}  // namespace npu::driver
