// SPDX-License-Identifier: Apache-2.0
// MemoryShares: what a user may call, over ShareBook.
#include "driver/sharing/share_book.hpp"
#include "driver/support/impl_of.hpp"

namespace npu::driver {

struct MemoryShares::Impl : ShareBook {
  using ShareBook::ShareBook;
};

MemoryShares::MemoryShares(platform::Platform& platform)
    : impl_(std::make_shared<Impl>(platform)) {}

MemoryShares::~MemoryShares() {
  impl_->forget_all();
}

Result<ShareKey> MemoryShares::share(AddressSpace& owner, MemoryHandle memory,
                                     const ShareOptions& options) {
  return impl_->add(impl_of(owner), memory, options);
}

Status MemoryShares::admit(const AddressSpace& owner, ShareKey key, ProcessId process) {
  return impl_->admit(impl_of(owner), key, process, true);
}

Status MemoryShares::dismiss(const AddressSpace& owner, ShareKey key, ProcessId process) {
  return impl_->admit(impl_of(owner), key, process, false);
}

Status MemoryShares::withdraw(const AddressSpace& owner, ShareKey key) {
  return impl_->remove(impl_of(owner), key);
}

Result<MemoryHandle> MemoryShares::open(AddressSpace& into, ShareKey key) {
  return impl_->open(impl_of(into), key);
}

Result<MemoryHandle> MemoryShares::open(AddressSpace& into, std::string_view name) {
  return impl_->open(impl_of(into), name);
}

std::size_t MemoryShares::count() const {
  return impl_->count();
}

}  // namespace npu::driver
