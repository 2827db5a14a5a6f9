// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>

#include "apps/compat/client/request.hpp"
#include "apps/compat/protocol/futex.hpp"

namespace npu::compat {
namespace {

// The thread that has locked the process; 0: none. A child of fork() has other threads, and is not
// locked.
std::atomic<std::uint32_t>& holder() {
  static std::atomic<std::uint32_t> thread{0};
  return thread;
}
std::atomic<pid_t>& locked_process() {
  static std::atomic<pid_t> process{0};
  return process;
}

constexpr long kLook = 100'000'000;  // ns

}  // namespace

void wait_for_process_lock() {
  for (;;) {
    const auto by = holder().load();
    if (by == 0 || by == static_cast<std::uint32_t>(::gettid())) return;
    if (locked_process() != ::getpid()) return;
    futex_wait(holder(), by, kLook);
  }
}

bool lock_process(bool locks) {
  std::uint32_t expected = locks ? 0 : static_cast<std::uint32_t>(::gettid());
  if (locks && locked_process() != ::getpid()) expected = holder().load();
  const std::uint32_t next = locks ? static_cast<std::uint32_t>(::gettid()) : 0;
  if (!holder().compare_exchange_strong(expected, next)) return false;
  if (locks) locked_process() = ::getpid();
  if (!locks) ::syscall(SYS_futex, &holder(), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  return true;
}

}  // namespace npu::compat
