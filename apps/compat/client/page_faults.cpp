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
#include "apps/compat/client/watched_pinned.hpp"
#include "npu/base/fault_access.hpp"

#define NPU_PUBLIC __attribute__((visibility("default")))

namespace npu::compat {
namespace {

struct FaultActions {
  std::atomic<bool> catching{false};
  std::mutex lock;             // of those who change an action before, or SIGSEGV's since then
  struct sigaction theirs {};  // what the program would have done with SIGSEGV
  // Of `theirs` what a fault needs, which comes at any time: the handler, and kWithInfo.
  std::atomic<std::uint64_t> handler{0};
};
constexpr std::uint64_t kWithInfo = std::uint64_t{1} << 63;  // no address of a program has it

FaultActions actions;

// No handler runs on the thread, not even of faults, which may change an action as well: nothing of
// the program's is touched meanwhile.
class ActionsHeld {
 public:
  ActionsHeld() {
    const std::uint64_t all = ~std::uint64_t{0};
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all);
    actions.lock.lock();
  }
  ~ActionsHeld() {
    actions.lock.unlock();
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
  }
  ActionsHeld(const ActionsHeld&) = delete;
  ActionsHeld& operator=(const ActionsHeld&) = delete;

 private:
  std::uint64_t before_ = 0;
};

NextFunction<int, int, const struct sigaction*, struct sigaction*> next_sigaction("sigaction");

int set_action(int signal, const struct sigaction* action, struct sigaction* before) {
  return next_sigaction.get()(signal, action, before);
}

// The same. While faults are caught no handler keeps them out: it may touch managed memory.
int set_open_action(int signal, const struct sigaction* action, struct sigaction* before) {
  if (action == nullptr || !actions.catching) return set_action(signal, action, before);
  struct sigaction open = *action;
  sigdelset(&open.sa_mask, SIGSEGV);
  return set_action(signal, &open, before);
}

// A child has the lock as it was: nobody holds it while one is made.
ActionsHeld* held_for_fork = nullptr;

void hold_for_fork() {
  auto* const held = new ActionsHeld;
  held_for_fork = held;
}

void let_go_after_fork() {
  delete std::exchange(held_for_fork, nullptr);
}

__attribute__((constructor)) void prepare_actions() {
  next_sigaction.get();
  pthread_atfork(hold_for_fork, let_go_after_fork, let_go_after_fork);
}

void keep(const struct sigaction& theirs) {
  actions.theirs = theirs;
  const bool with_info = (theirs.sa_flags & SA_SIGINFO) != 0;
  actions.handler = with_info ? reinterpret_cast<std::uintptr_t>(theirs.sa_sigaction) | kWithInfo
                              : reinterpret_cast<std::uintptr_t>(theirs.sa_handler);
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const std::uint64_t word = actions.handler;
  const auto handler = reinterpret_cast<sighandler_t>(word);
  if ((word & kWithInfo) != 0) {
    using WithInfo = decltype(actions.theirs.sa_sigaction);
    reinterpret_cast<WithInfo>(word & ~kWithInfo)(signal, info, context);
  } else if (handler != SIG_DFL && handler != SIG_IGN) {
    handler(signal);
  } else if (info->si_code > 0 || handler == SIG_DFL) {
    // The access is made again, and ends the program; so does a signal that somebody has sent.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    set_action(signal, &standard, nullptr);
    if (info->si_code <= 0) ::raise(signal);
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const bool write = is_write_fault(context);
  const bool mine = info->si_code == SEGV_ACCERR && (touch_watched(info->si_addr, 1, write) ||
                                                     touch_managed(info->si_addr, 1, write));
  errno = error;
  if (!mine) pass_on(signal, info, context);
}

// What the program says before its faults are caught, and of SIGSEGV ever.
int change_in_turn(int signal, const struct sigaction* wanted, struct sigaction* before) {
  struct sigaction action {
  }, had{};
  if (wanted != nullptr) action = *wanted;
  int result = 0;
  {
    const ActionsHeld held;
    if (signal == SIGSEGV && actions.catching) {
      had = actions.theirs;
      if (wanted != nullptr) keep(action);
    } else {
      result = set_open_action(signal, wanted != nullptr ? &action : nullptr, &had);
    }
  }
  if (result == 0 && before != nullptr) *before = had;
  return result;
}

// Of handlers that there are.
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
  {
    const ActionsHeld held;
    if (actions.catching) return;
    struct sigaction theirs {};
    set_action(SIGSEGV, nullptr, &theirs);
    keep(theirs);
    struct sigaction ours {};
    ours.sa_sigaction = on_fault;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigfillset(&ours.sa_mask);
    sigdelset(&ours.sa_mask, SIGSEGV);
    set_action(SIGSEGV, &ours, nullptr);
    open_masks();
    actions.catching = true;  // last: who sees it changes actions without the lock
  }
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
  if (signal == SIGSEGV || !actions.catching) {
    return npu::compat::change_in_turn(signal, action, before);
  }
  return npu::compat::set_open_action(signal, action, before);
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
