// SPDX-License-Identifier: Apache-2.0
// Managed memory (managed.hpp) of the calling process, through pointers. A program makes one view
// and passes it in ManagedOptions. A handler of SIGSEGV migrates pages when the process accesses
// them. Faults that it cannot resolve go to the handler that was installed before.
//
// System calls do not migrate pages: they fail with EFAULT. Call fault_in() before.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "npu/driver/export.hpp"
#include "npu/driver/managed.hpp"
#include "npu/driver/managed_view.hpp"
#include "npu/driver/types.hpp"

namespace npu::driver {

class NPU_API ProcessView : public ManagedView {
 public:
  // Calls ManagedMemory::touch() of the memory that contains the address. It runs in a signal
  // handler, on the thread that accessed the page, and in fault_in().
  using Touch = std::function<Result<Access>(DeviceAddress at, bool write)>;

  // Makes the view of the process.
  // kAlreadyExists: the process has one.
  // kOutOfResources: the addresses are in use (as under AddressSanitizer), or no handler was
  // installed.
  // kOutOfMemory: no file of memory.
  static Result<std::unique_ptr<ProcessView>> make(Touch touch);
  // Destroy it when no pointer into the memory is in use.
  ~ProcessView() override;
  ProcessView(const ProcessView&) = delete;
  ProcessView& operator=(const ProcessView&) = delete;

  static void* pointer(DeviceAddress at) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(at.value));
  }

  // Migrates pages, so that the process can read or write the bytes without a fault until a card
  // accesses them.
  // kOutOfMemory: the kernel grants no right.
  // Also the errors of Touch.
  Status fault_in(DeviceAddress at, Bytes size, bool write);

  // Call it before fork() with the result of ManagedMemory::touch_all(): the child gets these pages
  // with their present bytes. nullopt: the pages could not migrate, and the child's accesses fault.
  void before_fork(std::optional<std::vector<PageRights>> pages);
  // Call it first in the child, which may use nothing else of the driver. The managed addresses
  // become its own ordinary memory; bytes outside of the pages are 0. False: out of memory, and
  // accesses fault.
  bool in_child();

  Result<ByteSpan> memory_of(std::uint64_t page) override;
  void limit(std::uint64_t first, std::uint64_t count, Access rights) override;
  void forget(std::uint64_t first, std::uint64_t count) override;

  struct Impl;  // the driver's own

 private:
  explicit ProcessView(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
