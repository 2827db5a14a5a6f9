// SPDX-License-Identifier: Apache-2.0
// Sleeping, in a process that has called npusim: simulated time, in each of its threads. The C
// library's functions of these names are hidden by ours in programs that are linked to this
// library.
//
// A signal does not end a sleep in simulated time: its handler runs, and the sleep is as long as it
// was to be, so that simulated time does not depend on when a signal came. In another process a
// thread sleeps as without npusim, and is told what is left.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "apps/compat/client/channel.hpp"
#include "apps/compat/client/connect.hpp"
#include "apps/compat/client/request.hpp"

#define NPU_PUBLIC __attribute__((visibility("default")))

namespace npu::compat {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

bool is_valid(const timespec* length) {
  return length != nullptr && length->tv_sec >= 0 && length->tv_nsec >= 0 &&
         length->tv_nsec < static_cast<long>(kSecond);
}

// The longest there is, if it is longer.
std::uint64_t nanoseconds_of(const timespec& length) {
  const auto seconds = static_cast<std::uint64_t>(length.tv_sec);
  if (seconds >= UINT64_MAX / kSecond) return UINT64_MAX;
  return seconds * kSecond + static_cast<std::uint64_t>(length.tv_nsec);
}

// As nanosleep(), for a valid length.
int sleep_for(const timespec& length, timespec* rest) {
  if (channel_in_connected_process() == nullptr) {
    return static_cast<int>(::syscall(SYS_nanosleep, &length, rest));
  }
  const std::uint64_t nanoseconds = nanoseconds_of(length);  // `rest` may be the same
  if (rest != nullptr) *rest = {};
  ask<Call::kSleep>({nanoseconds});
  return 0;
}

// From now until then, by that clock; nothing if it has passed.
timespec until(clockid_t clock, const timespec& then) {
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) return {};
  timespec length{then.tv_sec - now.tv_sec, then.tv_nsec - now.tv_nsec};
  if (length.tv_nsec < 0) {
    length.tv_nsec += static_cast<long>(kSecond);
    --length.tv_sec;
  }
  return length.tv_sec < 0 ? timespec{} : length;
}

// Clocks that go on while a thread sleeps.
bool is_clock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
         clock == CLOCK_TAI;
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
  return sleep_for(*length, rest);
}

NPU_PUBLIC int clock_nanosleep(clockid_t clock, int flags, const timespec* length, timespec* rest) {
  const bool absolute = (flags & TIMER_ABSTIME) != 0;
  const bool known =
      npu::compat::is_clock(clock) && npu::compat::channel_in_connected_process() != nullptr;
  if (!known || !is_valid(length)) {
    const int before = errno;
    const bool done = ::syscall(SYS_clock_nanosleep, clock, flags, length, rest) == 0;
    const int error = done ? 0 : errno;
    errno = before;
    return error;
  }
  return sleep_for(absolute ? npu::compat::until(clock, *length) : *length,
                   absolute ? nullptr : rest);
}

NPU_PUBLIC int usleep(useconds_t microseconds) {
  constexpr useconds_t kMillion = 1'000'000;
  return sleep_for({microseconds / kMillion, static_cast<long>(microseconds % kMillion) * 1000},
                   nullptr);
}

// What is left, in whole seconds.
NPU_PUBLIC unsigned sleep(unsigned seconds) {
  const timespec length{static_cast<std::time_t>(seconds), 0};
  timespec rest{};
  return sleep_for(length, &rest) == 0 ? 0 : static_cast<unsigned>(rest.tv_sec);
}

}  // extern "C"
