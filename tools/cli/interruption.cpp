// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/interruption.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "tools/reports/known_temporary.hpp"

namespace npu::cli {
namespace {

std::atomic<bool> raised_flag{false};
std::atomic<int> first_signal{0};
std::atomic<const char*> words{nullptr};
pthread_t main_thread{};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<const char*>::is_always_lock_free);

void take_signal(int number) {
  if (Interruption::is_passed_on(number)) return;
  int none = 0;
  if (first_signal.compare_exchange_strong(none, number)) {
    raised_flag.store(true);
    return;
  }
  Interruption::say_last_words();
  reports::unlink_temporaries();
  struct sigaction end {};
  end.sa_handler = SIG_DFL;
  ::sigaction(number, &end, nullptr);
  ::raise(number);  // delivered when this function returns
}

}  // namespace

void Interruption::take_signals() {
  main_thread = ::pthread_self();
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = take_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(number, &action, nullptr);
  }
}

void Interruption::say_last_words() {
  const char* const text = words.exchange(nullptr);
  if (text == nullptr) return;
  const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(written);
}

std::atomic<bool>& Interruption::raised() {
  return raised_flag;
}

int Interruption::signal() {
  return first_signal;
}

bool Interruption::has_last_words() {
  return words != nullptr;
}

bool Interruption::is_passed_on(int signal) {
  if (::pthread_equal(::pthread_self(), main_thread) != 0) return false;
  ::pthread_kill(main_thread, signal);
  return true;
}

void Interruption::last_words(const char* text) {
  words = text;
}

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

}  // namespace npu::cli
