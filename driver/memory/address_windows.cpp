// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/address_windows.hpp"
#include "driver/support/impl_of.hpp"

#include <utility>

namespace npu::driver {

UnifiedAddresses::UnifiedAddresses(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
UnifiedAddresses::~UnifiedAddresses() = default;

std::shared_ptr<UnifiedAddresses> UnifiedAddresses::make() {
  return std::shared_ptr<UnifiedAddresses>(new UnifiedAddresses(std::make_unique<Impl>()));
}

Status UnifiedAddresses::keep_managed(Bytes size) {
  const std::lock_guard<std::mutex> held(impl_->lock);
  auto kept = impl_->managed.reserve_at(VirtualRanges::kManagedBegin, size, false);
  if (kept) return {};
  return fail(ErrorCode::kOutOfResources, kept.error().context);
}

std::unique_ptr<AddressWindow> AddressWindow::take(unsigned wanted, const WindowSet& of_card,
                                                   std::shared_ptr<UnifiedAddresses> program) {
  std::unique_lock<std::mutex> held;
  if (program != nullptr) held = std::unique_lock<std::mutex>(impl_of(*program).lock);
  for (unsigned i = 0; i < VirtualRanges::kWindows; ++i) {
    const unsigned number = (wanted + i) % VirtualRanges::kWindows;
    if (of_card[number] || (program != nullptr && impl_of(*program).taken[number])) continue;
    if (program != nullptr) impl_of(*program).taken.set(number);
    held = {};
    return std::unique_ptr<AddressWindow>(new AddressWindow(number, std::move(program)));
  }
  return nullptr;
}

AddressWindow::~AddressWindow() {
  if (program_ == nullptr) return;
  const std::lock_guard<std::mutex> held(impl_of(*program_).lock);
  impl_of(*program_).taken.reset(number_);
}

}  // namespace npu::driver
