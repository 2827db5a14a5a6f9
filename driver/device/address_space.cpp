// SPDX-License-Identifier: Apache-2.0
// AddressSpace: what a user may call, over Space and under the memory manager's mutex.
#include "npu/driver/address_space.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <utility>

#include "driver/device/address_space_impl.hpp"
#include "driver/memory/compactor.hpp"
#include "driver/support/call_trace.hpp"
#include "driver/support/choice.hpp"
#include "npu/abi/registers.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

// Under the memory manager's mutex: another task may close the space while one waits for that.
Status open_space(const AddressSpace::Impl& impl) {
  if (auto ok = impl.link.usable(); !ok) return ok;
  if (impl.space == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "the address space is closed");
  }
  return {};
}

CallTrace call_trace(const AddressSpace::Impl& impl, platform::DriverCall call,
                     std::uint64_t argument = 0, Bytes bytes = 0) {
  return {impl.link.platform(), impl.link.device_index(), call, argument, bytes};
}

// `create` under the mutex, and once more after making room if it was refused although enough is
// free, or would be if the card is done by now with what is in quarantine.
template <class Create>
auto create_with_room(const AddressSpace::Impl& impl, Bytes size, const Create& create)
    -> decltype(create()) {
  auto& memory = impl.memory;
  const MutexHolder holder(memory.mutex());
  if (auto ok = open_space(impl); !ok) return forward_error(ok);
  auto result = create();
  if (result || result.error().code != ErrorCode::kOutOfMemory) return result;
  const auto wanted = checked_align_up(size, kPageSize);
  const auto now = memory.physical().statistics();
  if (memory.compactor() == nullptr || !wanted) return result;
  if (*wanted > now.free + now.quarantined) return result;
  const auto made = memory.compactor()->run(*wanted);
  if (made) return create();
  return fail(ErrorCode::kOutOfMemory,
              fmt::format("{}; compaction: {}", result.error().context, made.error().message()));
}

// What it counts for; null: for nobody.
using Quota = std::shared_ptr<MemoryQuota>;
const Quota kNobody;
const Quota& quota_for(const AddressSpace::Impl& impl, const MemoryOptions& options) {
  return options.counts ? impl.quota : kNobody;
}

// What counts for a client: a refusal comes before anything else. `memory_of` finds what was made.
template <class Create, class MemoryOf>
auto create_within_quota(const AddressSpace::Impl& impl, const Quota& quota, Bytes size,
                         const Create& create, const MemoryOf& memory_of) -> decltype(create()) {
  const auto whole = checked_align_up(size, kPageSize);
  if (!whole) return create_with_room(impl, size, create);
  auto charge = MemoryCharge::take(quota, *whole, false);
  if (!charge) {
    const auto use = quota->use();
    return fail(ErrorCode::kOutOfMemory,
                fmt::format("{} bytes over the client's quota: {} of {} in use", size, use.used(),
                            use.limit));
  }
  return create_with_room(impl, size, [&] {
    auto made = create();
    if (made) {
      quota->note_use();
      auto& physical = impl.memory.physical();
      physical.charge(memory_of(*made), impl.space->vmid(), std::move(charge));
    }
    return made;
  });
}

// What a driver in the kernel spends on memory that there is now: its pages of 2 MiB, and the
// entries that map it.
void spend_on(const AddressSpace::Impl& impl, Bytes allocated, std::uint64_t entries) {
  auto& tasks = impl.link.platform().tasks();
  const auto pages = (allocated + kPageSize - 1) / kPageSize;
  tasks.kernel_work(platform::KernelWork::kAllocatePage, pages);
  if (entries == 0) return;
  tasks.kernel_work(platform::KernelWork::kPageTableLock, 1);
  tasks.kernel_work(platform::KernelWork::kMapPage, entries);
}

bool over_quota(const Quota& quota, Bytes size) {
  if (!quota) return false;
  const auto use = quota->use();
  const auto whole = checked_align_up(size, kPageSize);
  return whole && *whole > use.limit - std::min(use.used(), use.limit);
}

// Whether pages of managed memory have left for the host, so that there is more.
bool make_managed_leave(const AddressSpace::Impl& impl, const Quota& quota, Bytes size) {
  const auto& reclaim = impl.memory.reclaim();
  const auto whole = checked_align_up(size, kPageSize);
  if (!reclaim || !whole || !impl.link.usable()) return false;
  if (over_quota(quota, size)) {
    const auto use = quota->use();
    const Bytes missing = *whole > use.limit ? use.limit : use.used() + *whole - use.limit;
    return *whole <= use.limit && missing <= use.managed && reclaim(impl.space->vmid(), missing);
  }
  Bytes free = 0;
  {
    const MutexHolder holder(impl.memory.mutex());
    free = impl.memory.physical().statistics().free;
  }
  return reclaim(0, *whole > free ? *whole - free : *whole);
}

// Managed memory gives way to what cannot leave the card.
template <class Create, class MemoryOf>
auto create_giving_way(const AddressSpace::Impl& impl, const Quota& quota, Bytes size,
                       const Create& create, const MemoryOf& memory_of) -> decltype(create()) {
  for (;;) {
    auto made = quota == nullptr ? create_with_room(impl, size, create)
                                 : create_within_quota(impl, quota, size, create, memory_of);
    if (made || made.error().code != ErrorCode::kOutOfMemory) return made;
    if (make_managed_leave(impl, quota, size)) continue;
    if (over_quota(quota, size)) quota->count_refusal();
    return made;
  }
}

Result<LentMemory> lend(const AddressSpace::Impl& owner, MemoryHandle memory, unsigned card) {
  const MutexHolder holder(owner.memory.mutex());
  if (auto ok = open_space(owner); !ok) return forward_error(ok);
  auto lent = owner.space->held().lend(memory, owner.space->maps(memory));
  if (!lent) return lent;
  if (auto ok = lent->lease.let_in(owner.memory.peers(), card); !ok) return forward_error(ok);
  return lent;
}

Status check_link(CardLink& link, unsigned card) {
  if (auto ok = link.usable(); !ok) return ok;
  const auto linked = link.has_link_to(card);
  if (!linked) return forward_error(linked);
  if (*linked) return {};
  return fail(ErrorCode::kUnsupported,
              fmt::format("card {} has no HCCS link to card {}", link.device_index(), card));
}

// One mutex after the other, never both: two cards may borrow from each other at a time.
Result<MemoryHandle> borrow(const AddressSpace::Impl& space, const AddressSpace::Impl& owner,
                            MemoryHandle memory) {
  const auto card = owner.link.device_index();
  if (&owner.link.platform() != &space.link.platform()) {
    return fail(ErrorCode::kInvalidArgument, "the memory is in another machine");
  }
  if (auto ok = check_link(space.link, card); !ok) return forward_error(ok);
  auto lent = lend(owner, memory, space.link.device_index());
  if (!lent) return forward_error(lent);
  const MutexHolder holder(space.memory.mutex());
  if (auto ok = open_space(space); !ok) return forward_error(ok);
  return space.space->held().borrow(card, std::move(*lent));
}

}  // namespace

Result<MemoryHandle> import_into(const AddressSpace::Impl& space, const AddressSpace::Impl& owner,
                                 MemoryHandle memory) {
  if (&owner.link != &space.link) return borrow(space, owner, memory);
  const MutexHolder holder(space.memory.mutex());
  if (auto ok = open_space(space); !ok) return forward_error(ok);
  if (auto ok = open_space(owner); !ok) return forward_error(ok);
  const bool mapped = &space == &owner && space.space->maps(memory);
  return space.space->held().import(owner.space->held(), memory, mapped);
}

Result<std::unique_ptr<AddressSpace>> make_address_space(
    CardLink& link, MemoryManager& memory, const CardFeatures& features, ProcessId process,
    std::shared_ptr<MemoryQuota> quota, std::shared_ptr<UnifiedAddresses> addresses) {
  const MutexHolder holder(memory.mutex());
  const auto space = memory.create_space(quota, std::move(addresses));
  if (!space) return forward_error(space);
  return std::make_unique<AddressSpace>(std::make_unique<AddressSpace::Impl>(
      AddressSpace::Impl{link, memory, features, *space, process, {}, {}, std::move(quota)}));
}

AddressSpace::AddressSpace(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

AddressSpace::~AddressSpace() {
  if (impl_->space != nullptr) {
    auto& memory = impl_->memory;
    const MutexHolder holder(memory.mutex());
    const auto vmid = std::exchange(impl_->space, nullptr)->vmid();
    static_cast<void>(memory.close_space(vmid, impl_->link.usable().has_value()));
  }
  // What has opened it meanwhile has it; from now on nobody can.
  if (impl_->shares) impl_->shares->forget(*impl_);
}

Status AddressSpace::close() {
  Status status;
  std::shared_ptr<SpaceObserver> shares;
  {
    auto& memory = impl_->memory;
    const MutexHolder holder(memory.mutex());
    if (auto ok = open_space(*impl_); !ok) return ok;
    const auto vmid = impl_->space->vmid();
    if (memory.streams(vmid) > 0) {
      return fail(ErrorCode::kBusy,
                  fmt::format("VMID {} is used by {} streams", vmid, memory.streams(vmid)));
    }
    impl_->space = nullptr;  // given up whatever comes: what could not be freed is tried again
    status = memory.close_space(vmid, true);
    shares = std::move(impl_->shares);
  }
  if (shares) shares->forget(*impl_);
  return status;
}

unsigned AddressSpace::vmid() const {
  return impl_->space == nullptr ? 0 : impl_->space->vmid();
}

ProcessId AddressSpace::process() const {
  return impl_->process;
}

Result<DeviceMemory> AddressSpace::allocate(Bytes size, const MemoryOptions& options) {
  const auto trace = call_trace(*impl_, platform::DriverCall::kAllocate, 0, size);
  std::uint64_t entries = 0;
  const auto create = [&] {
    auto memory = impl_->space->allocate(size, options.pinned);
    if (memory) entries = impl_->space->entries({memory->address.value, memory->reserved});
    return memory;
  };
  auto made = create_giving_way(*impl_, quota_for(*impl_, options), size, create,
                                [&](const DeviceMemory& memory) {
                                  return impl_->space->range_of(memory.address.value)->memory;
                                });
  if (made) spend_on(*impl_, size, entries);
  return made;
}

Status AddressSpace::free(DeviceAddress address) {
  const auto trace = call_trace(*impl_, platform::DriverCall::kFree, address.value);
  const MutexHolder holder(impl_->memory.mutex());
  if (auto ok = open_space(*impl_); !ok) return ok;
  return impl_->space->free(address.value);
}

Result<MemoryHandle> AddressSpace::create_memory(Bytes size, const MemoryOptions& options) {
  const auto trace = call_trace(*impl_, platform::DriverCall::kCreateHandle, 0, size);
  const auto create = [&] { return impl_->space->held().create(size, options.pinned); };
  auto made = create_giving_way(*impl_, quota_for(*impl_, options), size, create,
                                [](MemoryHandle memory) { return memory; });
  if (made) spend_on(*impl_, size, 0);
  return made;
}

Status AddressSpace::release_memory(MemoryHandle memory) {
  const auto trace = call_trace(*impl_, platform::DriverCall::kRelease, memory.index);
  const MutexHolder holder(impl_->memory.mutex());
  if (auto ok = open_space(*impl_); !ok) return ok;
  return impl_->space->held().release(memory);
}

Result<MemoryHandle> AddressSpace::import_memory(const AddressSpace& owner, MemoryHandle memory) {
  return import_into(*impl_, *owner.impl_, memory);
}

Result<MemoryHandle> AddressSpace::import_host_memory(const platform::DmaMemory& memory) {
  const MutexHolder holder(impl_->memory.mutex());
  if (auto ok = open_space(*impl_); !ok) return forward_error(ok);
  return impl_->space->held().hold_host(memory.bus().value, memory.size());
}

Result<DeviceAddress> AddressSpace::reserve(Bytes size, Bytes alignment) {
  const auto trace = call_trace(*impl_, platform::DriverCall::kReserve, 0, size);
  const auto known = impl_->features.has(&DeviceFeatures::reservations, "reservations are");
  if (!known) return forward_error(known);
  const MutexHolder holder(impl_->memory.mutex());
  if (auto ok = open_space(*impl_); !ok) return forward_error(ok);
  const auto at = impl_->space->reserve(size, alignment);
  if (!at) return forward_error(at);
  return DeviceAddress{*at};
}

Status AddressSpace::release(DeviceAddress reservation) {
  const auto trace = call_trace(*impl_, platform::DriverCall::kRelease, reservation.value);
  const MutexHolder holder(impl_->memory.mutex());
  if (auto ok = open_space(*impl_); !ok) return ok;
  return impl_->space->release(reservation.value);
}

Status AddressSpace::map(DeviceAddress at, Bytes size, MemoryHandle memory, Bytes offset,
                         Access access) {
  const auto trace = call_trace(*impl_, platform::DriverCall::kMap, at.value, size);
  if (auto ok = check_choice("access", access, Access::kReadWrite); !ok) return ok;
  std::uint64_t entries = 0;
  {
    const MutexHolder holder(impl_->memory.mutex());
    if (auto ok = open_space(*impl_); !ok) return ok;
    if (auto ok = impl_->space->map({at.value, size}, memory, offset, access); !ok) return ok;
    entries = impl_->space->entries({at.value, size});
  }
  spend_on(*impl_, 0, entries);
  return {};
}

Status AddressSpace::set_access(DeviceAddress at, Bytes size, Access access) {
  const auto trace = call_trace(*impl_, platform::DriverCall::kSetAccess, at.value, size);
  if (auto ok = check_choice("access", access, Access::kReadWrite); !ok) return ok;
  const MutexHolder holder(impl_->memory.mutex());
  if (auto ok = open_space(*impl_); !ok) return ok;
  return impl_->space->set_access({at.value, size}, access);
}

Status AddressSpace::unmap(DeviceAddress at, Bytes size) {
  const auto trace = call_trace(*impl_, platform::DriverCall::kUnmap, at.value, size);
  const MutexHolder holder(impl_->memory.mutex());
  if (auto ok = open_space(*impl_); !ok) return ok;
  return impl_->space->unmap({at.value, size});
}

MemoryStatistics AddressSpace::memory_statistics() const {
  const MutexHolder holder(impl_->memory.mutex());
  auto& physical = impl_->memory.physical();
  physical.collect();
  const auto card = physical.statistics();
  return impl_->quota == nullptr ? card : impl_->quota->seen(card);
}

const std::shared_ptr<MemoryQuota>& AddressSpace::quota() const {
  return impl_->quota;
}

std::optional<AddressRange> AddressSpace::range_of(DeviceAddress address) const {
  const MutexHolder holder(impl_->memory.mutex());
  if (impl_->space == nullptr) return std::nullopt;
  return impl_->space->range_of(address.value);
}

}  // namespace npu::driver
