// SPDX-License-Identifier: Apache-2.0
// ManagedMemory: what a user may call.
#include "npu/driver/managed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "driver/device/address_space_impl.hpp"
#include "driver/managed/advice.hpp"
#include "driver/managed/fault_service.hpp"

namespace npu::driver {

struct ManagedMemory::Impl {
  Impl(std::vector<ManagedCardSpace> spaces, std::vector<std::shared_ptr<FaultService>> served_by,
       const ManagedOptions& options);
  Status start();
  // Nothing of it is served any more. Under the lock.
  void withdraw(std::size_t count);
  bool usable() const;
  Prefetcher& prefetcher() { return services[0]->prefetcher(); }

  std::vector<std::shared_ptr<FaultService>> services;  // of its cards
  std::vector<std::shared_ptr<CardLock>> locks;
  ManagedPages pages;
  std::vector<std::unique_ptr<CardPages>> cards;
  bool open = false;
};

ManagedMemory::Impl::Impl(std::vector<ManagedCardSpace> spaces,
                          std::vector<std::shared_ptr<FaultService>> served_by,
                          const ManagedOptions& options)
    : services(std::move(served_by)), pages(spaces, options) {
  std::vector<CardPages*> views;
  for (unsigned i = 0; i < spaces.size(); ++i) {
    locks.push_back(services[i]->lock());
    cards.push_back(std::make_unique<CardPages>(pages, i, *spaces[i].device, *spaces[i].space,
                                                services[i]->paging()));
    views.push_back(cards[i].get());
  }
  pages.set_cards(std::move(views));
}

Status ManagedMemory::Impl::start() {
  for (const auto& card : cards) {
    if (auto ok = card->open(); !ok) return ok;
  }
  const PagesLock lock(locks);
  CardLock::join(locks);
  for (std::size_t i = 0; i < cards.size(); ++i) {
    auto ok = services[i]->add(*cards[i]);
    if (ok) continue;
    withdraw(i);
    return ok;
  }
  open = true;
  return {};
}

void ManagedMemory::Impl::withdraw(std::size_t count) {
  prefetcher().forget(pages);
  for (std::size_t i = 0; i < count; ++i) services[i]->remove(*cards[i]);
  CardLock::part(locks);
  open = false;
}

bool ManagedMemory::Impl::usable() const {
  return open && std::none_of(services.begin(), services.end(),
                              [](const auto& service) { return service->stopped(); });
}

namespace {

tl::unexpected<Error> closed() {
  return fail(ErrorCode::kInvalidArgument, "the managed memory is closed");
}

Status check(const std::vector<ManagedCard>& cards) {
  if (cards.empty() || cards.size() > ManagedMemory::kMostCards) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("managed memory of {} cards; 1 .. {}",
                                                         cards.size(), ManagedMemory::kMostCards));
  }
  std::set<std::uint32_t> seen;
  for (const auto& card : cards) {
    auto& device = card.device->impl();
    if (auto ok = device.usable(); !ok) return ok;
    if (card.space->impl().space == nullptr || &card.space->impl().device != &device) {
      return fail(ErrorCode::kInvalidArgument, "the address space is closed or of another card");
    }
    if (&device.platform != &cards[0].device->impl().platform) {
      return fail(ErrorCode::kInvalidArgument, "cards of two machines");
    }
    if (device.card.device_index >= ManagedMemory::kMostCards ||
        !seen.insert(device.card.device_index).second) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("card {} is there twice, or beyond {}", device.card.device_index,
                              ManagedMemory::kMostCards - 1));
    }
  }
  return {};
}

}  // namespace

ManagedMemory::ManagedMemory(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<FaultPolicy> ManagedMemory::policy_of(Device& device, const ManagedOptions& options) {
  return fault_policy(device.impl(), options);
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
    auto service = FaultService::of(card.device->impl(), options);
    if (!service) return forward_error(service);
    services.push_back(std::move(*service));
    spaces.push_back({&card.device->impl(), card.space->impl().space});
  }
  const bool in_place = services[0]->policy() == FaultPolicy::kAts;
  for (const auto& service : services) {
    if ((service->policy() == FaultPolicy::kAts) == in_place) continue;
    return fail(ErrorCode::kInvalidArgument, "some of the cards use the host's pages, others not");
  }
  auto impl = std::make_unique<Impl>(std::move(spaces), std::move(services), options);
  if (auto ok = impl->start(); !ok) return forward_error(ok);
  return std::make_unique<ManagedMemory>(std::move(impl));
}

ManagedMemory::~ManagedMemory() {
  static_cast<void>(close());
}

Status ManagedMemory::close() {
  if (!impl_->open) return {};
  const PagesLock lock(impl_->locks);
  impl_->withdraw(impl_->cards.size());
  return impl_->pages.free_all();
}

Result<DeviceAddress> ManagedMemory::allocate(Bytes size) {
  if (!impl_->usable()) return closed();
  const PagesLock lock(impl_->locks);
  const auto at = impl_->pages.allocate(size);
  if (!at) return forward_error(at);
  return DeviceAddress{*at};
}

Status ManagedMemory::free(DeviceAddress address) {
  if (!impl_->usable()) return closed();
  const PagesLock lock(impl_->locks);
  return impl_->pages.free(address.value);
}

Status ManagedMemory::fork(DeviceAddress address, ManagedMemory& child) {
  if (!impl_->usable() || !child.impl_->usable()) return closed();
  if (impl_->locks != child.impl_->locks || &child == this) {
    return fail(ErrorCode::kInvalidArgument, "the child's managed memory is of other cards");
  }
  const PagesLock lock(impl_->locks);
  return impl_->pages.fork(address.value, child.impl_->pages);
}

Status ManagedMemory::read(DeviceAddress at, ByteSpan to) {
  if (!impl_->usable()) return closed();
  const PagesLock lock(impl_->locks);
  return impl_->pages.read(at.value, to);
}

Status ManagedMemory::write(DeviceAddress at, ConstByteSpan from) {
  if (!impl_->usable()) return closed();
  const PagesLock lock(impl_->locks);
  return impl_->pages.write(at.value, from);
}

Result<PrefetchTicket> ManagedMemory::prefetch(DeviceAddress at, Bytes size, MemoryLocation to) {
  if (!impl_->usable()) return closed();
  const PagesLock lock(impl_->locks);
  auto& pages = impl_->pages;
  if (auto ok = pages.check(at.value, size); !ok) return forward_error(ok);
  const bool to_card = to.type == MemoryLocation::Type::kDevice;
  auto* const card = to_card ? pages.card_of(to.device) : nullptr;
  if (card == nullptr && to != MemoryLocation::host()) {
    return fail(ErrorCode::kInvalidArgument, "a location that this managed memory has not");
  }
  if (card == nullptr && any_read_mostly(pages, at.value, size)) {
    return fail(ErrorCode::kInvalidArgument, "pages of read mostly are on the host already");
  }
  return impl_->prefetcher().begin(pages, impl_->locks, at.value, size, card);
}

Status ManagedMemory::wait(PrefetchTicket ticket, Instant deadline) {
  if (!impl_->usable()) return closed();
  return impl_->prefetcher().wait(ticket, deadline);
}

Status ManagedMemory::advise(DeviceAddress at, Bytes size, MemoryAdvice advice, bool set,
                             MemoryLocation location) {
  if (!impl_->usable()) return closed();
  const PagesLock lock(impl_->locks);
  return driver::advise(impl_->pages, at.value, size, advice, set, location);
}

Result<ManagedAttributes> ManagedMemory::attributes(DeviceAddress at, Bytes size) const {
  if (!impl_->usable()) return closed();
  const PagesLock lock(impl_->locks);
  return driver::attributes(impl_->pages, at.value, size);
}

FaultPolicy ManagedMemory::policy() const {
  return impl_->services[0]->policy();
}

bool ManagedMemory::contains(DeviceAddress at) const {
  if (!impl_->usable()) return false;
  const PagesLock lock(impl_->locks);
  return static_cast<bool>(impl_->pages.check(at.value, 1));
}

ManagedStatistics ManagedMemory::statistics() const {
  const PagesLock lock(impl_->locks);
  return impl_->pages.statistics();
}

ManagedStatistics ManagedMemory::glance() const {
  return impl_->pages.statistics();
}

}  // namespace npu::driver
