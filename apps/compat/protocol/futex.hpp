// SPDX-License-Identifier: Apache-2.0
// A word of shared memory as something to wait for.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace npu::compat {

// Until the word is another one, somebody wakes, or so many nanoseconds have passed.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, long nanoseconds) {
  constexpr long kSecond = 1'000'000'000;
  const timespec limit{nanoseconds / kSecond, nanoseconds % kSecond};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

inline void futex_wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

inline void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace npu::compat
