// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/bus_error.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace npu::driver::vfio {
namespace {

// What the handler reads without a lock. `size` of 0: free; it is written last and cleared first.
struct Slot {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::size_t> size{0};
  std::atomic<std::atomic<bool>*> tripped{nullptr};
};

constexpr std::size_t kSlots = 4096;
std::array<Slot, kSlots> slots;
std::mutex slots_mutex;
struct sigaction previous;
std::uintptr_t page_size;

bool replace_page(std::uintptr_t address) {
  for (auto& slot : slots) {
    const auto size = slot.size.load(std::memory_order_acquire);
    const auto begin = slot.begin.load(std::memory_order_relaxed);
    if (size == 0 || address < begin || address - begin >= size) continue;
    void* const page = reinterpret_cast<void*>(  // NOLINT(performance-no-int-to-ptr): si_addr
        address & ~(page_size - 1));
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (::mmap(page, page_size, PROT_READ | PROT_WRITE, kFlags, -1, 0) != page) return false;
    std::memset(page, 0xFF, page_size);
    slot.tripped.load(std::memory_order_relaxed)->store(true, std::memory_order_relaxed);
    return true;
  }
  return false;
}

void on_bus_error(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool ours = replace_page(reinterpret_cast<std::uintptr_t>(info->si_addr));
  errno = saved;
  if (ours) return;
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(number, info, context);
  const bool is_function = previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN;
  if (is_function) return previous.sa_handler(number);
  // The access is repeated, and ends the process as it would have without us.
  ::signal(SIGBUS, SIG_DFL);
}

void install_handler() {
  page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &previous);
}

}  // namespace

BusErrorGuard::BusErrorGuard(void* begin, std::size_t size) {
  static std::once_flag once;
  std::call_once(once, install_handler);
  const std::lock_guard<std::mutex> lock(slots_mutex);
  for (std::size_t i = 0; i < kSlots; ++i) {
    auto& slot = slots[i];
    if (slot.size.load(std::memory_order_relaxed) != 0) continue;
    slot.begin.store(reinterpret_cast<std::uintptr_t>(begin), std::memory_order_relaxed);
    slot.tripped.store(&tripped_, std::memory_order_relaxed);
    slot.size.store(size, std::memory_order_release);
    slot_ = static_cast<int>(i);
    return;
  }
}

BusErrorGuard::~BusErrorGuard() {
  if (slot_ < 0) return;
  const std::lock_guard<std::mutex> lock(slots_mutex);
  slots[static_cast<std::size_t>(slot_)].size.store(0, std::memory_order_release);
}

}  // namespace npu::driver::vfio
