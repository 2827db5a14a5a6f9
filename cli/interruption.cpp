// SPDX-License-Identifier: Apache-2.0
#include "cli/interruption.hpp"

#include <unistd.h>

#include <cstring>

namespace npu::cli {
namespace {

std::atomic<bool> raised_flag{false};
std::atomic<int> first_signal{0};
std::atomic<const char*> words{nullptr};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<const char*>::is_always_lock_free);

extern "C" void take_signal(int number) {
  int none = 0;
  if (first_signal.compare_exchange_strong(none, number)) {
    raised_flag.store(true);
    return;
  }
  npu::cli::Interruption::say_last_words();
  struct sigaction end {};
  end.sa_handler = SIG_DFL;
  ::sigaction(number, &end, nullptr);
  ::raise(number);  // delivered when this function returns
}

}  // namespace

Interruption::Interruption() {
  first_signal = 0;
  raised_flag = false;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = take_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  words = nullptr;
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

void Interruption::last_words(const char* text) {
  words = text;
}

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

}  // namespace npu::cli
