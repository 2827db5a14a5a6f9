// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/launcher/host_guard.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace npu::operators {
namespace {

constexpr std::array<int, 5> kCrashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
// Frames of a function and of those it calls are below its own, on a stack of at most this size.
constexpr std::uintptr_t kStackNear = std::uintptr_t{8} << 20;

thread_local HostGuard* g_last = nullptr;
std::array<struct sigaction, kCrashes.size()> g_before;

std::uintptr_t stack_pointer(const void* context) {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(registers.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return registers.sp;
#else
  static_cast<void>(registers);
  return 0;
#endif
}

}  // namespace

// For handlers of signals: nothing is allocated.
struct HostCrash {
  // Whose frame is the next one above; null: it is no operator's code.
  static const HostGuard* guard_of(std::uintptr_t stack) {
    const HostGuard* nearest = nullptr;
    std::uintptr_t distance = kStackNear;
    for (const auto* each = g_last; each != nullptr; each = each->before_) {
      const auto frame = reinterpret_cast<std::uintptr_t>(each->frame_);
      if (stack > frame || frame - stack >= distance) continue;
      distance = frame - stack;
      nearest = each;
    }
    return nearest;
  }

  [[noreturn]] static void end(const char* what, int signal, const siginfo_t* info) {
    std::array<char, 256> line{};
    const auto room = line.size() - 1;
    const auto written = [&] {
      if (signal == SIGSEGV || signal == SIGBUS) {
        return fmt::format_to_n(line.data(), room,
                                "npusim: {} of an operator followed a pointer to 0x{:X}, where "
                                "the host has no memory",
                                what, reinterpret_cast<std::uintptr_t>(info->si_addr));
      }
      const char* const why = signal == SIGFPE ? "had an arithmetic exception (a division by zero?)"
                              : signal == SIGILL ? "has an instruction that the host does not know"
                                                 : "gave up by abort()";
      return fmt::format_to_n(line.data(), room, "npusim: {} of an operator {}", what, why);
    }();
    *written.out = '\n';
    const auto ignored =
        write(STDERR_FILENO, line.data(), static_cast<std::size_t>(written.out + 1 - line.data()));
    static_cast<void>(ignored);
    _exit(HostGuard::kExitCode);
  }

  static void handle(int signal, siginfo_t* info, void* context) {
    std::size_t place = 0;
    while (kCrashes[place] != signal) ++place;
    const auto& before = g_before[place];
    // Of a kernel: who looks at these ends the process, or does nothing.
    if ((before.sa_flags & SA_SIGINFO) != 0) before.sa_sigaction(signal, info, context);
    const auto* const guard = guard_of(stack_pointer(context));
    if (guard != nullptr) end(guard->what_, signal, info);
    sigaction(signal, &before, nullptr);
    if (signal == SIGABRT || info->si_code <= 0) raise(signal);  // sent: it would not come again
  }

  static bool install() {
    struct sigaction action {};
    action.sa_sigaction = &handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (std::size_t i = 0; i < kCrashes.size(); ++i) {
      sigaction(kCrashes[i], &action, &g_before[i]);
    }
    return true;
  }
};

HostGuard::HostGuard(const char* what)
    : what_(what), frame_(__builtin_frame_address(0)), before_(g_last) {
  static const bool kInstalled = HostCrash::install();
  static_cast<void>(kInstalled);
  if (g_last != nullptr) g_last->after_ = this;
  g_last = this;
}

// Tasks end theirs in any order.
HostGuard::~HostGuard() {
  if (before_ != nullptr) before_->after_ = after_;
  (after_ != nullptr ? after_->before_ : g_last) = before_;
}

}  // namespace npu::operators
