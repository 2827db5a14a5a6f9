// SPDX-License-Identifier: Apache-2.0
// ManagedMemory: what a user may call.
#include "npu/driver/managed.hpp"

#include "driver/device/address_space_impl.hpp"
#include "driver/managed/advice.hpp"
#include "driver/managed/fault_service.hpp"

namespace npu::driver {

struct ManagedMemory::Impl {
  Impl(Device::Impl& card, Space& space, std::shared_ptr<FaultService> served_by,
       const ManagedOptions& options)
      : service(std::move(served_by)), pages(card, space, service->paging(), options) {}
  std::shared_ptr<FaultService> service;
  ManagedPages pages;
  bool usable() const { return open && !service->stopped(); }
  bool open = false;
};

namespace {

tl::unexpected<Error> closed() {
  return fail(ErrorCode::kInvalidArgument, "the managed memory is closed");
}

}  // namespace

ManagedMemory::ManagedMemory(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<ManagedMemory>> ManagedMemory::open(Device& device, AddressSpace& space,
                                                           const ManagedOptions& options) {
  auto& card = device.impl();
  if (auto ok = card.usable(); !ok) return forward_error(ok);
  if (space.impl().space == nullptr || &space.impl().device != &card) {
    return fail(ErrorCode::kInvalidArgument, "the address space is closed or of another card");
  }
  auto service = FaultService::of(card, options);
  if (!service) return forward_error(service);
  auto impl = std::make_unique<Impl>(card, *space.impl().space, std::move(*service), options);
  if (auto ok = impl->pages.open(); !ok) return forward_error(ok);
  if (auto ok = impl->service->add(impl->pages); !ok) return forward_error(ok);
  impl->open = true;
  return std::make_unique<ManagedMemory>(std::move(impl));
}

ManagedMemory::~ManagedMemory() {
  static_cast<void>(close());
}

Status ManagedMemory::close() {
  if (!impl_->open) return {};
  auto& service = *impl_->service;
  service.remove(impl_->pages);
  impl_->open = false;
  const MutexHolder holder(service.mutex());
  return service.stopped() ? Status{} : impl_->pages.free_all();
}

Result<DeviceAddress> ManagedMemory::allocate(Bytes size) {
  if (!impl_->usable()) return closed();
  const MutexHolder holder(impl_->service->mutex());
  const auto at = impl_->pages.allocate(size);
  if (!at) return forward_error(at);
  return DeviceAddress{*at};
}

Status ManagedMemory::free(DeviceAddress address) {
  if (!impl_->usable()) return closed();
  const MutexHolder holder(impl_->service->mutex());
  return impl_->pages.free(address.value);
}

Status ManagedMemory::read(DeviceAddress at, ByteSpan to) {
  if (!impl_->usable()) return closed();
  const MutexHolder holder(impl_->service->mutex());
  return impl_->pages.read(at.value, to);
}

Status ManagedMemory::write(DeviceAddress at, ConstByteSpan from) {
  if (!impl_->usable()) return closed();
  const MutexHolder holder(impl_->service->mutex());
  return impl_->pages.write(at.value, from);
}

Result<PrefetchTicket> ManagedMemory::prefetch(DeviceAddress at, Bytes size, MemoryLocation to) {
  if (!impl_->usable()) return closed();
  const MutexHolder holder(impl_->service->mutex());
  auto& pages = impl_->pages;
  if (auto ok = pages.check(at.value, size); !ok) return forward_error(ok);
  const bool to_card = to == MemoryLocation::card(pages.device().card.device_index);
  if (!to_card && to != MemoryLocation::host()) {
    return fail(ErrorCode::kInvalidArgument, "a location that this managed memory has not");
  }
  if (!to_card && any_read_mostly(pages, at.value, size)) {
    return fail(ErrorCode::kInvalidArgument, "pages of read mostly are on the host already");
  }
  return impl_->service->prefetcher().begin(pages, at.value, size, to_card);
}

Status ManagedMemory::wait(PrefetchTicket ticket, Instant deadline) {
  if (!impl_->usable()) return closed();
  return impl_->service->prefetcher().wait(ticket, deadline);
}

Status ManagedMemory::advise(DeviceAddress at, Bytes size, MemoryAdvice advice, bool set,
                             MemoryLocation location) {
  if (!impl_->usable()) return closed();
  const MutexHolder holder(impl_->service->mutex());
  return driver::advise(impl_->pages, at.value, size, advice, set, location);
}

Result<ManagedAttributes> ManagedMemory::attributes(DeviceAddress at, Bytes size) const {
  if (!impl_->usable()) return closed();
  const MutexHolder holder(impl_->service->mutex());
  return driver::attributes(impl_->pages, at.value, size);
}

bool ManagedMemory::contains(DeviceAddress at) const {
  if (!impl_->usable()) return false;
  const MutexHolder holder(impl_->service->mutex());
  return static_cast<bool>(impl_->pages.check(at.value, 1));
}

ManagedStatistics ManagedMemory::statistics() const {
  const MutexHolder holder(impl_->service->mutex());
  return impl_->pages.statistics();
}

}  // namespace npu::driver
