// SPDX-License-Identifier: Apache-2.0
// Device memory that processes share, on one card or over the HCCS link between two. The owner
// offers a block as a share, under a key and optionally a name, and says which processes may open
// it.
//
// A process that has opened a share keeps the memory while it holds or maps it, even after the end
// of the share and of its owner. All members may be called from several tasks at once, also
// concurrently with members of the spaces.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "npu/base/result.hpp"
#include "npu/driver/address_space.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/types.hpp"
#include "npu/platform/platform.hpp"

namespace npu::driver {

struct ShareKey {
  std::uint64_t value = 0;  // 0: none. A MemoryShares never uses a value twice

  friend constexpr bool operator==(ShareKey a, ShareKey b) { return a.value == b.value; }
  friend constexpr bool operator!=(ShareKey a, ShareKey b) { return !(a == b); }
};

struct ShareOptions {
  std::string name;       // at most MemoryShares::kLongestName bytes; empty: only the key opens it
  bool everyone = false;  // false: only the owner's process and admitted ones may open it
};

// The shares of a machine.
class NPU_API MemoryShares {
 public:
  static constexpr std::size_t kLongestName = 64;

  // `platform` must outlive it. Only spaces of its devices may share memory here.
  explicit MemoryShares(platform::Platform& platform);
  // Ends all shares.
  ~MemoryShares();
  MemoryShares(const MemoryShares&) = delete;
  MemoryShares& operator=(const MemoryShares&) = delete;

  // Shares memory that the space created or imported. The share ends when the space releases the
  // memory or ends.
  // kInvalidArgument: the space does not hold the memory, is of another machine, or has shares in
  // another MemoryShares; the name is too long or contains a zero byte.
  // kPermissionDenied: the space opened the memory here itself.
  // kAlreadyExists: the name is in use.
  Result<ShareKey> share(AddressSpace& owner, MemoryHandle memory,
                         const ShareOptions& options = {});
  // Allow a process to open the share, or revoke the permission. A process that has opened it keeps
  // the memory.
  // kNotFound: no such share.
  // kPermissionDenied: another space's share.
  // kInvalidArgument: process 0.
  Status admit(const AddressSpace& owner, ShareKey key, ProcessId process);
  Status dismiss(const AddressSpace& owner, ShareKey key, ProcessId process);
  // Ends the share.
  // kNotFound: no such share.
  // kPermissionDenied: another space's share.
  Status withdraw(const AddressSpace& owner, ShareKey key);

  // Lets the space map the memory. It releases the memory like its own (release_memory()).
  // kNotFound: no such share.
  // kPermissionDenied: the space's process may not open it.
  // Also the errors of AddressSpace::import_memory().
  Result<MemoryHandle> open(AddressSpace& into, ShareKey key);
  Result<MemoryHandle> open(AddressSpace& into, std::string_view name);

  // Number of shares that can be opened now.
  std::size_t count() const;

  struct Impl;  // the driver's own

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace npu::driver
