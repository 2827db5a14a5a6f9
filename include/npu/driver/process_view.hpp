// SPDX-License-Identifier: Apache-2.0
// Managed memory (managed.hpp) for the calling process itself, through pointers: its view of the
// managed addresses, as memory of its own at the same addresses. Pages that are elsewhere are
// brought when they are touched, by a handler of SIGSEGV. A handler that was there before gets the
// signals that are not about managed memory.
//
// System calls do not bring pages: to the kernel what the process has no right to is a bad address
// (EFAULT). fault_in() brings them before.
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
  // Brings a page, as ManagedMemory::touch() of the memory that has it does. It is called on the
  // thread that has touched the page, in a handler of a signal, and by fault_in().
  using Touch = std::function<Result<Access>(DeviceAddress at, bool write)>;

  // One at a time in a process. kAlreadyExists; kOutOfResources: something else is at these
  // addresses, as in a program under AddressSanitizer; kOutOfMemory.
  static Result<std::unique_ptr<ProcessView>> make(Touch touch);
  // No pointer into the memory is used any more.
  ~ProcessView() override;
  ProcessView(const ProcessView&) = delete;
  ProcessView& operator=(const ProcessView&) = delete;

  static void* pointer(DeviceAddress at) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(at.value));
  }

  // The process may read, or write, all of the bytes without a fault, until a card uses them again.
  // What Touch reports.
  Status fault_in(DeviceAddress at, Bytes size, bool write);

  // Before fork(): a child has these pages, which are on the host (ManagedMemory::touch_all()),
  // with the bytes of that moment. It uses nothing of the driver but in_child(), behind which the
  // addresses are ordinary memory of its own. What else was managed is gone: zeros. Nothing instead
  // of pages: they could not be brought, and the child faults when it touches them.
  void before_fork(std::optional<std::vector<PageRights>> pages);
  // In the child, first. False: there is not so much memory; what is missing faults.
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
