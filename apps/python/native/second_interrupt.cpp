// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/second_interrupt.hpp"

#include <unistd.h>

#include <atomic>

namespace npu::python {
namespace {

// The sender of the first one that was not looked at: a process, or a terminal.
constexpr pid_t kNobody = -1, kTerminal = 0;
std::atomic<pid_t> first_from{kNobody};
static_assert(std::atomic<pid_t>::is_always_lock_free);
struct sigaction handler_before;  // Python's

// One of a terminal and one of a supervisor are the same request. Two of one sender are two.
void count_interrupt(int number, siginfo_t* about, void* context) {
  const pid_t from = about->si_code == SI_KERNEL ? kTerminal : about->si_pid;
  pid_t first = kNobody;
  if (!first_from.compare_exchange_strong(first, from) && first == from) {
    struct sigaction end {};
    end.sa_handler = SIG_DFL;
    ::sigaction(number, &end, nullptr);
    ::raise(number);  // delivered when this function returns
    return;
  }
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
    handler_before.sa_sigaction(number, about, context);
  } else {
    handler_before.sa_handler(number);
  }
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == count_interrupt;
}

}  // namespace

SecondInterrupt::SecondInterrupt() {
  if (::gettid() != ::getpid()) return;
  struct sigaction now {};
  if (::sigaction(SIGINT, nullptr, &now) != 0 || is_ours(now)) return;
  const bool plain = (now.sa_flags & SA_SIGINFO) == 0;
  if (plain && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)) return;
  handler_before = now;
  first_from = kNobody;
  struct sigaction action = now;
  action.sa_sigaction = count_interrupt;
  action.sa_flags = now.sa_flags | SA_SIGINFO;
  taken_ = ::sigaction(SIGINT, &action, nullptr) == 0;
}

// A handler that a program has set meanwhile stays.
SecondInterrupt::~SecondInterrupt() {
  if (!taken_) return;
  struct sigaction now {};
  if (::sigaction(SIGINT, nullptr, &now) == 0 && is_ours(now)) {
    ::sigaction(SIGINT, &handler_before, nullptr);
  }
}

void SecondInterrupt::looked() {
  first_from = kNobody;
}

}  // namespace npu::python
