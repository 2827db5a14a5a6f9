// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/second_interrupt.hpp"

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace npu::python {
namespace {

// Two that come together, as a terminal and a supervisor send them, are one.
constexpr std::int64_t kApartNs = 500'000'000;

std::atomic<std::int64_t> first_at{0};  // of a clock, in ns; 0: none that was not looked at
static_assert(std::atomic<std::int64_t>::is_always_lock_free);
struct sigaction handler_before;  // Python's

std::int64_t clock_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

void count_interrupt(int number, siginfo_t* about, void* context) {
  const std::int64_t now = clock_ns();
  std::int64_t none = 0;
  const bool is_first = first_at.compare_exchange_strong(none, now);
  if (!is_first && now - none > kApartNs) {
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
  first_at = 0;
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
  first_at = 0;
}

}  // namespace npu::python
