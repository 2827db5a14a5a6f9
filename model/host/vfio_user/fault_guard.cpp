// SPDX-License-Identifier: Apache-2.0
#include "model/host/vfio_user/fault_guard.hpp"

#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

namespace npu::model::vfio_user {
namespace {

struct GuardedRange {
  std::atomic<std::uintptr_t> begin{0};  // 0: the slot is free
  std::atomic<std::uintptr_t> end{0};
  std::atomic<std::uintptr_t> lost_from{0};  // zero pages from here to the end; end: none
  std::atomic<std::size_t> granule{0};
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

constexpr std::size_t kSlots = 4096;
std::array<GuardedRange, kSlots> guarded_ranges;
struct sigaction previous_action;

bool replace_lost_pages(std::uintptr_t address) {
  for (auto& range : guarded_ranges) {
    const std::uintptr_t begin = range.begin.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= range.end.load(std::memory_order_relaxed)) {
      continue;
    }
    const std::uintptr_t from =
        begin + (address - begin) / range.granule.load() * range.granule.load();
    const std::uintptr_t to = range.lost_from.load(std::memory_order_relaxed);
    if (from >= to) return false;  // these are zero pages already: not for us
    const void* placed = ::mmap(reinterpret_cast<void*>(from), to - from, PROT_READ | PROT_WRITE,
                                MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (placed == MAP_FAILED) return false;
    range.lost_from.store(from, std::memory_order_relaxed);
    return true;
  }
  return false;
}

void on_bus_error(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool handled = info->si_code == BUS_ADRERR &&
                       replace_lost_pages(reinterpret_cast<std::uintptr_t>(info->si_addr));
  errno = saved;
  if (handled) return;
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
    previous_action.sa_sigaction(number, info, context);
  } else if (previous_action.sa_handler == SIG_DFL || previous_action.sa_handler == SIG_IGN) {
    ::sigaction(SIGBUS, &previous_action, nullptr);  // the access faults again and ends the process
  } else {
    previous_action.sa_handler(number);
  }
}

bool install_handler() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return ::sigaction(SIGBUS, &action, &previous_action) == 0;
}

}  // namespace

FaultGuard::FaultGuard(std::byte* begin, std::size_t size, std::size_t granule) {
  static const bool kInstalled = install_handler();
  if (!kInstalled) return;
  for (std::size_t i = 0; i < kSlots; ++i) {
    auto& range = guarded_ranges[i];
    if (range.begin.load(std::memory_order_relaxed) != 0) continue;
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    range.end = address + size;
    range.lost_from = address + size;
    range.granule = granule;
    range.begin.store(address, std::memory_order_release);
    slot_ = static_cast<int>(i);
    return;
  }
}

FaultGuard::~FaultGuard() {
  if (ok()) guarded_ranges[static_cast<std::size_t>(slot_)].begin = 0;
}

bool FaultGuard::lost() const {
  const auto& range = guarded_ranges[static_cast<std::size_t>(slot_)];
  return range.lost_from != range.end;
}

}  // namespace npu::model::vfio_user
