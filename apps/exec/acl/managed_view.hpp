// SPDX-License-Identifier: Apache-2.0
// Managed memory as a program has it through pointers (apps/compat/protocol/managed_view.hpp): a
// file of which the driver has the pages that are on the host. A thread of the program takes rights
// away from the others; simulated time stands still until it has.
#pragma once

#include <sys/types.h>

#include <memory>

#include "apps/compat/protocol/managed_view.hpp"
#include "apps/exec/host/channel.hpp"
#include "npu/driver/managed_view.hpp"

namespace npu::exec::acl {

class ManagedView : public driver::ManagedView {
 public:
  // Of this program. kOutOfMemory.
  static Result<std::unique_ptr<ManagedView>> make(pid_t program);

  // The program gets it with the answer that follows. kIo.
  Status give(Channel& channel);
  bool given() const { return given_; }
  // As the program says; 0: none yet.
  pid_t thread() const { return ring().thread.load(std::memory_order_relaxed); }
  // How many entries there have been in the ring.
  std::uint32_t posted() const { return posted_; }

  Result<ByteSpan> memory_of(std::uint64_t page) override;
  void limit(std::uint64_t first, std::uint64_t count, driver::Access rights) override;
  void forget(std::uint64_t first, std::uint64_t count) override;

 private:
  ManagedView(pid_t program, SharedMemory memory);
  compat::ViewRing& ring() const;
  ByteSpan pages(std::uint64_t first, std::uint64_t count) const;
  // Until its thread has come so far, or there is nobody who could use a right.
  void wait_until(std::uint32_t done);
  bool is_at_work() const;

  const pid_t program_;
  SharedMemory memory_;
  std::uint32_t posted_ = 0;
  bool given_ = false;
  bool silent_ = false;  // it does not do what is asked of it: nobody waits any more
};

}  // namespace npu::exec::acl
