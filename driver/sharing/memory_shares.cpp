// SPDX-License-Identifier: Apache-2.0
// MemoryShares: what a user may call, over ShareBook.
#include "driver/sharing/share_book.hpp"

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
  return impl_->add(owner.impl(), memory, options);
}

Status MemoryShares::admit(const AddressSpace& owner, ShareKey key, ProcessId process) {
  return impl_->admit(owner.impl(), key, process, true);
}

Status MemoryShares::dismiss(const AddressSpace& owner, ShareKey key, ProcessId process) {
  return impl_->admit(owner.impl(), key, process, false);
}

Status MemoryShares::withdraw(const AddressSpace& owner, ShareKey key) {
  return impl_->remove(owner.impl(), key);
}

Result<MemoryHandle> MemoryShares::open(AddressSpace& into, ShareKey key) {
  return impl_->open(into.impl(), key);
}

Result<MemoryHandle> MemoryShares::open(AddressSpace& into, std::string_view name) {
  return impl_->open(into.impl(), name);
}

std::size_t MemoryShares::count() const {
  return impl_->count();
}

}  // namespace npu::driver
