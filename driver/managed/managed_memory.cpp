// SPDX-License-Identifier: Apache-2.0
// ManagedMemory: what a user may call.
#include "npu/driver/managed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "driver/device/address_space_impl.hpp"
#include "driver/device/device_parts.hpp"
#include "driver/managed/advice.hpp"
#include "driver/managed/managed_cards.hpp"
#include "driver/support/impl_of.hpp"

namespace npu::driver {

struct ManagedMemory::Impl {
  Impl(std::vector<ManagedCardSpace> spaces, std::vector<std::shared_ptr<FaultService>> services,
       const ManagedOptions& wanted);
  // f() with all that it may use locked and open.
  template <class F>
  auto locked(F f) -> decltype(f());
  // With `shape` held, and without the pages' lock.
  Result<std::uint64_t> add(Bytes size);
  Status drop(std::uint64_t at);
  Status fork(std::uint64_t at, Impl& child);
  const std::vector<std::shared_ptr<CardLock>>& locks() const { return cards.locks(); }

  ManagedOptions options;  // for cards that come; without the pager
  ManagedPages pages;
  ManagedCards cards;
  std::unique_ptr<platform::Mutex> shape;  // of allocations and cards, while they come and go
};

ManagedMemory::Impl::Impl(std::vector<ManagedCardSpace> spaces,
                          std::vector<std::shared_ptr<FaultService>> services,
                          const ManagedOptions& wanted)
    : options(wanted),
      pages(std::move(spaces), wanted),
      cards(pages, std::move(services)),
      shape(pages.platform().tasks().make_mutex()) {
  options.pager = {};
}

namespace {

tl::unexpected<Error> closed() {
  return fail(ErrorCode::kInvalidArgument, "the managed memory is closed");
}

}  // namespace

template <class F>
auto ManagedMemory::Impl::locked(F f) -> decltype(f()) {
  const PagesLock lock(locks());
  if (!cards.usable()) return closed();
  return f();
}

Result<std::uint64_t> ManagedMemory::Impl::add(Bytes size) {
  auto& ranges = pages.ranges();
  const auto at = locked([&] { return ranges.reserve(size); });
  if (!at) return at;
  auto tables = ranges.prepare(*at, size);
  bool added = false;
  {
    const PagesLock lock(locks());
    added = tables && cards.usable();
    if (added) ranges.add(*at, size, std::move(*tables));
    if (!tables) ranges.give_back(*at);
  }
  if (added) return at;
  if (!tables) return forward_error(tables);
  static_cast<void>(ranges.release(*at, size));
  return closed();
}

// Also of what is closed already.
Status ManagedMemory::Impl::drop(std::uint64_t at) {
  auto& ranges = pages.ranges();
  Result<Bytes> size = [&] {
    const PagesLock lock(locks());
    return pages.clear(at);
  }();
  if (!size) return forward_error(size);
  auto released = ranges.release(at, *size);
  const PagesLock lock(locks());
  if (released) ranges.give_back(at);
  return released;
}

Status ManagedMemory::Impl::fork(std::uint64_t at, Impl& child) {
  auto& ranges = child.pages.ranges();
  const auto size = locked([&]() -> Result<Bytes> {
    if (!child.cards.usable()) return closed();
    if (!pages.same_cards(child.pages)) {
      return fail(ErrorCode::kInvalidArgument, "the child's managed memory is of other cards");
    }
    const auto* const range = pages.ranges().find_range(at);
    if (range == nullptr) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("{:#x} is no managed memory", at));
    }
    if (auto ok = ranges.reserve_at(at, range->size); !ok) return forward_error(ok);
    return range->size;
  });
  if (!size) return forward_error(size);
  auto tables = ranges.prepare(at, *size);
  auto forked = tables ? locked([&]() -> Status {
    if (!child.cards.usable()) return closed();
    return pages.fork(at, *size, child.pages, std::move(*tables));
  })
                       : Status(forward_error(tables));
  if (forked) return {};
  const auto made = child.locked([&] { return ranges.check(at, *size); });
  if (made) return forked;  // it has the range, with a part of the pages
  if (tables) static_cast<void>(ranges.release(at, *size));
  const PagesLock lock(locks());
  ranges.give_back(at);
  return forked;
}

namespace {

ManagedCardSpace part_of(const ManagedCard& card) {
  const auto& space = impl_of(*card.space);
  return {&space.link, &space.memory, &space.features, space.space};
}

Status check(const std::vector<ManagedCard>& cards) {
  if (cards.empty() || cards.size() > ManagedMemory::kMostCards) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("managed memory of {} cards; 1 .. {}",
                                                         cards.size(), ManagedMemory::kMostCards));
  }
  std::set<std::uint32_t> seen;
  for (const auto& card : cards) {
    auto& link = DeviceParts::link(*card.device);
    if (auto ok = link.usable(); !ok) return ok;
    const auto allowed = DeviceParts::features(*card.device)
                             .has(&DeviceFeatures::managed_memory, "managed memory is");
    if (!allowed) return allowed;
    if (impl_of(*card.space).space == nullptr || &impl_of(*card.space).link != &link) {
      return fail(ErrorCode::kInvalidArgument, "the address space is closed or of another card");
    }
    if (&link.platform() != &DeviceParts::link(*cards[0].device).platform()) {
      return fail(ErrorCode::kInvalidArgument, "cards of two machines");
    }
    if (link.device_index() >= ManagedMemory::kMostCards) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("card {}: managed memory is for cards 0 .. {}", link.device_index(),
                              ManagedMemory::kMostCards - 1));
    }
    if (!seen.insert(link.device_index()).second) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("card {} is there twice", link.device_index()));
    }
  }
  return {};
}

}  // namespace

ManagedMemory::ManagedMemory(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<FaultPolicy> ManagedMemory::policy_of(Device& device, const ManagedOptions& options) {
  return fault_policy(device, options);
}

Result<std::unique_ptr<ManagedMemory>> ManagedMemory::open(Device& device, AddressSpace& space,
                                                           const ManagedOptions& options) {
  return open({{&device, &space}}, options);
}

Result<std::unique_ptr<ManagedMemory>> ManagedMemory::open(const std::vector<ManagedCard>& cards,
                                                           const ManagedOptions& options) {
  if (auto ok = check(cards); !ok) return forward_error(ok);
  std::vector<std::shared_ptr<FaultService>> services;
  std::vector<ManagedCardSpace> spaces;
  for (const auto& card : cards) {
    auto service = FaultService::of(*card.device, options);
    if (!service) return forward_error(service);
    services.push_back(std::move(*service));
    spaces.push_back(part_of(card));
  }
  const bool in_place = services[0]->policy() == FaultPolicy::kAts;
  for (const auto& service : services) {
    if ((service->policy() == FaultPolicy::kAts) == in_place) continue;
    return fail(ErrorCode::kInvalidArgument, "some of the cards use the host's pages, others not");
  }
  auto impl = std::make_unique<Impl>(std::move(spaces), std::move(services), options);
  {
    const PagesLock lock(impl->locks());
    if (auto ok = impl->cards.start(); !ok) return forward_error(ok);
  }
  return std::make_unique<ManagedMemory>(std::move(impl));
}

Status ManagedMemory::join(const ManagedCard& card, ConstByteSpan pager) {
  const MutexHolder shape(*impl_->shape);
  if (auto ok = impl_->locked([]() -> Status { return {}; }); !ok) return ok;
  if (auto ok = check({card}); !ok) return ok;
  if (&DeviceParts::link(*card.device).platform() != &impl_->pages.platform()) {
    return fail(ErrorCode::kInvalidArgument, "a card of another machine");
  }
  auto options = impl_->options;
  options.pager = pager;
  auto service = FaultService::of(*card.device, options);
  if (!service) return forward_error(service);
  return impl_->cards.join(part_of(card), std::move(*service));
}

Status ManagedMemory::leave(Device& device) {
  const MutexHolder shape(*impl_->shape);
  if (auto ok = impl_->locked([]() -> Status { return {}; }); !ok) return ok;
  return impl_->cards.leave(DeviceParts::link(device));
}

ManagedMemory::~ManagedMemory() {
  static_cast<void>(close());
}

// Two at once: the second waits for the end.
Status ManagedMemory::close() {
  const MutexHolder shape(*impl_->shape);
  std::optional<std::uint64_t> first;
  {
    const PagesLock lock(impl_->locks());
    if (!impl_->cards.open()) return {};
    impl_->cards.stop();
    first = impl_->pages.ranges().first();
  }
  Status status;
  while (first) {
    auto ok = impl_->drop(*first);
    if (!ok && status) status = ok;
    const PagesLock lock(impl_->locks());
    const auto next = impl_->pages.ranges().first();
    if (!ok && next == first) break;
    first = next;
  }
  const PagesLock lock(impl_->locks());
  impl_->pages.drop_frames();
  return status;
}

Result<DeviceAddress> ManagedMemory::allocate(Bytes size) {
  const MutexHolder shape(*impl_->shape);
  const auto at = impl_->add(size);
  if (!at) return forward_error(at);
  return DeviceAddress{*at};
}

Status ManagedMemory::free(DeviceAddress address) {
  const MutexHolder shape(*impl_->shape);
  if (auto ok = impl_->locked([]() -> Status { return {}; }); !ok) return ok;
  return impl_->drop(address.value);
}

Status ManagedMemory::fork(DeviceAddress address, ManagedMemory& child) {
  if (&child == this) return fail(ErrorCode::kInvalidArgument, "a child that is its parent");
  const bool first = impl_->pages.number() < child.impl_->pages.number();
  const MutexHolder one(*(first ? impl_ : child.impl_)->shape);
  const MutexHolder other(*(first ? child.impl_ : impl_)->shape);
  return impl_->fork(address.value, *child.impl_);
}

Status ManagedMemory::read(DeviceAddress at, ByteSpan to) {
  return impl_->locked([&] { return impl_->pages.read(at.value, to); });
}

Status ManagedMemory::write(DeviceAddress at, ConstByteSpan from) {
  return impl_->locked([&] { return impl_->pages.write(at.value, from); });
}

Result<Access> ManagedMemory::touch(DeviceAddress at, bool write) {
  return impl_->locked([&] { return impl_->pages.touch_view(at.value, write); });
}

Result<std::vector<PageRights>> ManagedMemory::touch_all() {
  return impl_->locked([&] { return impl_->pages.touch_all_views(); });
}

Result<PrefetchTicket> ManagedMemory::prefetch(DeviceAddress at, Bytes size, MemoryLocation to) {
  return impl_->locked([&]() -> Result<PrefetchTicket> {
    auto& pages = impl_->pages;
    if (auto ok = pages.has(&DeviceFeatures::managed_prefetch, "prefetch is"); !ok) {
      return forward_error(ok);
    }
    if (auto ok = pages.check(at.value, size); !ok) return forward_error(ok);
    const bool to_card = to.type == MemoryLocation::Type::kDevice;
    auto* const card = to_card ? pages.card_of(to.device) : nullptr;
    if (card == nullptr && to != MemoryLocation::host()) {
      return fail(ErrorCode::kInvalidArgument, "a location that this managed memory has not");
    }
    if (card == nullptr && any_read_mostly(pages, at.value, size)) {
      return fail(ErrorCode::kInvalidArgument, "pages of read mostly are on the host already");
    }
    return impl_->cards.prefetcher().begin(pages, impl_->locks(), at.value, size, card);
  });
}

Status ManagedMemory::wait(PrefetchTicket ticket, Instant deadline) {
  if (auto ok = impl_->locked([]() -> Status { return {}; }); !ok) return ok;
  return impl_->cards.prefetcher().wait(impl_->pages, ticket, deadline);
}

Status ManagedMemory::advise(DeviceAddress at, Bytes size, MemoryAdvice advice, bool set,
                             MemoryLocation location) {
  return impl_->locked([&] {
    auto known = impl_->pages.has(&DeviceFeatures::managed_advice, "advice is");
    if (!known) return known;
    return driver::advise(impl_->pages, at.value, size, advice, set, location);
  });
}

Result<ManagedAttributes> ManagedMemory::attributes(DeviceAddress at, Bytes size) const {
  return impl_->locked([&] { return driver::attributes(impl_->pages, at.value, size); });
}

FaultPolicy ManagedMemory::policy() const {
  return impl_->cards.policy();
}

bool ManagedMemory::contains(DeviceAddress at) const {
  return static_cast<bool>(impl_->locked([&] { return impl_->pages.check(at.value, 1); }));
}

ManagedStatistics ManagedMemory::statistics() const {
  const PagesLock lock(impl_->locks());
  return snapshot();
}

ManagedStatistics ManagedMemory::snapshot() const {
  auto told = impl_->pages.statistics();
  if (!impl_->pages.has(&DeviceFeatures::fault_counter, "")) told.faults = told.fault_errors = 0;
  if (!impl_->pages.has(&DeviceFeatures::resident_bytes, "")) told.resident_bytes = 0;
  return told;
}

}  // namespace npu::driver
