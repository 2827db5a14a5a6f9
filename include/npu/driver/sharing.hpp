// SPDX-License-Identifier: Apache-2.0
// Physical memory that processes give to each other, on one card or over the HCCS link between two:
// under a key that one of them tells the other, or under a name. Its owner says who may have it.
//
// A share is the offer; memory is had by whoever has opened it, for as long as it is held or mapped
// there, whatever becomes of the share and of its owner. All members may be called from several
// tasks at once, and at the same time as those of the spaces.
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
  std::uint64_t value = 0;  // 0: none; no value comes twice

  friend constexpr bool operator==(ShareKey a, ShareKey b) { return a.value == b.value; }
  friend constexpr bool operator!=(ShareKey a, ShareKey b) { return !(a == b); }
};

struct ShareOptions {
  std::string name;       // at most MemoryShares::kLongestName bytes; empty: the key alone opens it
  bool everyone = false;  // else those that are admitted, and the owner's process
};

// The shares of a machine.
class NPU_API MemoryShares {
 public:
  static constexpr std::size_t kLongestName = 64;

  // `platform` must outlive it, and all devices whose spaces share memory are of it.
  explicit MemoryShares(platform::Platform& platform);
  // Every share ends.
  ~MemoryShares();
  MemoryShares(const MemoryShares&) = delete;
  MemoryShares& operator=(const MemoryShares&) = delete;

  // Memory that the space has created or imported, but not opened here. The share ends when the
  // space gives the memory up or ends. kInvalidArgument: memory that it does not hold, a name that
  // is too long or contains a zero byte, a space of another machine or with shares in another
  // MemoryShares; kPermissionDenied: opened here; kAlreadyExists: the name is taken.
  Result<ShareKey> share(AddressSpace& owner, MemoryHandle memory,
                         const ShareOptions& options = {});
  // Who else may open it; no longer, but who has opened it keeps the memory. kNotFound: no such
  // share (any more); kPermissionDenied: another space's; kInvalidArgument: process 0.
  Status admit(const AddressSpace& owner, ShareKey key, ProcessId process);
  Status dismiss(const AddressSpace& owner, ShareKey key, ProcessId process);
  // The share ends. As admit().
  Status withdraw(const AddressSpace& owner, ShareKey key);

  // The space may map the memory from now on, and releases it like its own: release_memory().
  // kNotFound: no such share (any more); kPermissionDenied: the space's process is not admitted;
  // what AddressSpace::import_memory() reports.
  Result<MemoryHandle> open(AddressSpace& into, ShareKey key);
  Result<MemoryHandle> open(AddressSpace& into, std::string_view name);

  // Shares that could be opened now.
  std::size_t count() const;

  struct Impl;  // the driver's own

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace npu::driver
