// SPDX-License-Identifier: Apache-2.0
// Sleeping, for threads that npusim knows: simulated time. The C library's functions of these names
// are hidden by ours in programs that are linked to this library.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "compat/client/channel.hpp"
#include "compat/client/connect.hpp"

#define NPU_PUBLIC __attribute__((visibility("default")))

namespace npu::compat {
namespace {

constexpr long kSecond = 1'000'000'000;

// Nanoseconds of simulated time.
int sleep_for(long nanoseconds) {
  Channel* const channel = known_channel();
  if (channel == nullptr) {
    const timespec length{nanoseconds / kSecond, nanoseconds % kSecond};
    return static_cast<int>(::syscall(SYS_nanosleep, &length, nullptr));
  }
  channel->words()[0] = static_cast<std::uint64_t>(nanoseconds);
  channel->call(Call::kSleep);
  return 0;
}

bool is_valid(const timespec* length) {
  return length != nullptr && length->tv_sec >= 0 && length->tv_nsec >= 0 &&
         length->tv_nsec < kSecond;
}

}  // namespace
}  // namespace npu::compat

using npu::compat::is_valid;
using npu::compat::sleep_for;

extern "C" {

NPU_PUBLIC int nanosleep(const timespec* length, timespec* rest) {
  if (!is_valid(length)) {
    errno = EINVAL;
    return -1;
  }
  if (rest != nullptr) *rest = {};
  return sleep_for(length->tv_sec * npu::compat::kSecond + length->tv_nsec);
}

NPU_PUBLIC int clock_nanosleep(clockid_t clock, int flags, const timespec* length, timespec* rest) {
  if (flags != 0 || npu::compat::known_channel() == nullptr) {
    return ::syscall(SYS_clock_nanosleep, clock, flags, length, rest) == 0 ? 0 : errno;
  }
  if (!is_valid(length)) return EINVAL;
  if (rest != nullptr) *rest = {};
  return sleep_for(length->tv_sec * npu::compat::kSecond + length->tv_nsec);
}

NPU_PUBLIC int usleep(useconds_t microseconds) {
  return sleep_for(static_cast<long>(microseconds) * 1000);
}

NPU_PUBLIC unsigned sleep(unsigned seconds) {
  sleep_for(static_cast<long>(seconds) * npu::compat::kSecond);
  return 0;
}

}  // extern "C"
