// SPDX-License-Identifier: Apache-2.0
// The C library's functions that say what signals do are hidden by ours in programs that are linked
// to this library: what the program says of SIGSEGV is kept beside our handler.
#include "apps/compat/client/page_faults.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include "apps/compat/client/managed_view.hpp"
#include "apps/compat/client/next_function.hpp"
#include "npu/base/fault_access.hpp"

#define NPU_PUBLIC __attribute__((visibility("default")))

namespace npu::compat {
namespace {

struct FaultActions {
  std::atomic<bool> catching{false};
  std::mutex lock;
  struct sigaction theirs {};  // what the program would have done with SIGSEGV
};

FaultActions actions;

NextFunction<int, int, const struct sigaction*, struct sigaction*> next_sigaction("sigaction");

__attribute__((constructor)) void look_up_signals() {
  next_sigaction.get();
}

int set_action(int signal, const struct sigaction* action, struct sigaction* before) {
  return next_sigaction.get()(signal, action, before);
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction action = actions.theirs;
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
    action.sa_handler(signal);
  } else if (info->si_code > 0 || action.sa_handler == SIG_DFL) {
    // The access is made again, and ends the program; so does a signal that somebody has sent.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    set_action(signal, &standard, nullptr);
    if (info->si_code <= 0) ::raise(signal);
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const bool mine =
      info->si_code == SEGV_ACCERR && touch_managed(info->si_addr, 1, is_write_fault(context));
  errno = error;
  if (!mine) pass_on(signal, info, context);
}

int keep_theirs(const struct sigaction* action, struct sigaction* before) {
  const std::lock_guard<std::mutex> held(actions.lock);
  if (before != nullptr) *before = actions.theirs;
  if (action != nullptr) actions.theirs = *action;
  return 0;
}

// Handlers that touch managed memory, too.
void open_masks() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (signal == SIGSEGV || set_action(signal, nullptr, &action) != 0) continue;
    if (sigismember(&action.sa_mask, SIGSEGV) != 1) continue;
    sigdelset(&action.sa_mask, SIGSEGV);
    set_action(signal, &action, nullptr);
  }
}

// As the C library does it, which keeps two signals for itself; an error number.
int set_mask(int how, const sigset_t* set, sigset_t* before) {
  constexpr int kCancel = 32, kSetId = 33;
  constexpr std::size_t kKernelBytes = 8;
  std::uint64_t wanted = 0;
  if (set != nullptr) {
    std::memcpy(&wanted, set, sizeof wanted);
    wanted &= ~(std::uint64_t{3} << (kCancel - 1));
    static_assert(kSetId == kCancel + 1);
    const bool blocks = how != SIG_UNBLOCK && actions.catching;
    if (blocks) wanted &= ~(std::uint64_t{1} << (SIGSEGV - 1));
  }
  const int error = errno;
  const bool done = ::syscall(SYS_rt_sigprocmask, how, set == nullptr ? nullptr : &wanted, before,
                              kKernelBytes) == 0;
  return done ? 0 : std::exchange(errno, error);
}

}  // namespace

void catch_page_faults() {
  if (actions.catching.exchange(true)) return;
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigfillset(&ours.sa_mask);
  sigdelset(&ours.sa_mask, SIGSEGV);
  set_action(SIGSEGV, &ours, &actions.theirs);
  open_masks();
  sigset_t fault;
  sigemptyset(&fault);
  sigaddset(&fault, SIGSEGV);
  pthread_sigmask(SIG_UNBLOCK, &fault, nullptr);
}

}  // namespace npu::compat

using npu::compat::actions;

extern "C" {

NPU_PUBLIC int sigaction(int signal, const struct sigaction* action,
                         struct sigaction* before) noexcept {
  if (!actions.catching) return npu::compat::set_action(signal, action, before);
  if (signal == SIGSEGV) return npu::compat::keep_theirs(action, before);
  if (action == nullptr) return npu::compat::set_action(signal, action, before);
  struct sigaction open = *action;
  sigdelset(&open.sa_mask, SIGSEGV);
  return npu::compat::set_action(signal, &open, before);
}

NPU_PUBLIC sighandler_t signal(int number, sighandler_t handler) noexcept {
  struct sigaction action {
  }, before{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  if (sigaction(number, &action, &before) != 0) return SIG_ERR;
  return before.sa_handler;
}

NPU_PUBLIC int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  const int error = npu::compat::set_mask(how, set, before);
  if (error != 0) errno = error;
  return error == 0 ? 0 : -1;
}

NPU_PUBLIC int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return npu::compat::set_mask(how, set, before);
}

}  // extern "C"
