// SPDX-License-Identifier: Apache-2.0
// The shares of a machine (npu/driver/sharing.hpp), with a mutex of its own, which is taken before
// a memory manager's. Spaces that share have it, and tell it of their end.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "driver/device/address_space_impl.hpp"
#include "npu/driver/sharing.hpp"

namespace npu::driver {

class ShareBook : public SpaceObserver, public std::enable_shared_from_this<ShareBook> {
 public:
  explicit ShareBook(platform::Platform& platform)
      : platform_(platform), mutex_(platform.tasks().make_mutex()) {}

  Result<ShareKey> add(AddressSpace::Impl& owner, MemoryHandle memory, const ShareOptions& options);
  Status admit(const AddressSpace::Impl& owner, ShareKey key, ProcessId process, bool may);
  Status remove(const AddressSpace::Impl& owner, ShareKey key);
  Result<MemoryHandle> open(AddressSpace::Impl& into, ShareKey key);
  Result<MemoryHandle> open(AddressSpace::Impl& into, std::string_view name);
  std::size_t count();
  void forget(const AddressSpace::Impl& owner) override;
  void forget_all();

 private:
  struct Share {
    AddressSpace::Impl* owner = nullptr;
    MemoryHandle memory;
    std::string name;
    bool everyone = false;
    std::set<std::uint64_t> admitted;
  };
  using Shares = std::map<std::uint64_t, Share>;

  Shares::iterator find(std::uint64_t key);
  Result<Shares::iterator> find_own(const AddressSpace::Impl& owner, ShareKey key);
  Result<MemoryHandle> open(AddressSpace::Impl& into, Shares::iterator share);
  void erase(Shares::iterator share);
  void sweep();

  platform::Platform& platform_;
  std::unique_ptr<platform::Mutex> mutex_;
  Shares shares_;
  std::map<std::string, std::uint64_t, std::less<>> names_;
  std::uint64_t keys_ = 0;
  std::size_t sweep_at_ = 64;  // shares; so that those of memory that was given up do not pile up
};

}  // namespace npu::driver
