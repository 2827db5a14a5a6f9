// SPDX-License-Identifier: Apache-2.0
// What a thread has done by itself, outside of its calls: wall time, or instructions in user mode,
// as the variable npusim starts programs with says. Without the variable nothing is measured.
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace npu::compat {

inline constexpr char kWorkVariable[] = "NPUSIM_EXEC_WORK";
inline constexpr char kWorkIsWallTime[] = "wall";              // in nanoseconds
inline constexpr char kWorkIsInstructions[] = "instructions";  // counted by the machine's counters

// Of the calling thread; -1 and errno: the machine does not count them.
inline int open_instruction_counter() {
  perf_event_attr wanted{};
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.size = sizeof wanted;
  wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  return static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

// Of the thread that makes it, which is the one that asks it.
class WorkMeter {
 public:
  WorkMeter() {
    const char* const what = std::getenv(kWorkVariable);
    if (what == nullptr) return;
    wall_ = std::strcmp(what, kWorkIsWallTime) == 0;
    if (std::strcmp(what, kWorkIsInstructions) == 0) counter_ = open_instruction_counter();
    begin();
  }
  ~WorkMeter() {
    if (counter_ >= 0) ::close(counter_);
  }
  WorkMeter(const WorkMeter&) = delete;
  WorkMeter& operator=(const WorkMeter&) = delete;

  // The thread works from here on.
  void begin() {
    if (measures()) begin_ = now();
  }
  // Since begin().
  std::uint64_t done() const { return measures() ? now() - begin_ : 0; }

 private:
  bool measures() const { return wall_ || counter_ >= 0; }
  std::uint64_t now() const {
    if (wall_) {
      constexpr std::uint64_t kSecond = 1'000'000'000;
      timespec time{};
      ::clock_gettime(CLOCK_MONOTONIC, &time);
      return static_cast<std::uint64_t>(time.tv_sec) * kSecond +
             static_cast<std::uint64_t>(time.tv_nsec);
    }
    std::uint64_t count = 0;
    return ::read(counter_, &count, sizeof count) == sizeof count ? count : begin_;
  }

  bool wall_ = false;
  int counter_ = -1;
  std::uint64_t begin_ = 0;
};

}  // namespace npu::compat
