// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/watch/screen.hpp"

#include <unistd.h>

#include <atomic>

#include "npu/base/write_all.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/terminal/terminal.hpp"

namespace npu::cli {
namespace {

constexpr const char* kTake = "\x1b[?1049h\x1b[?25l";
constexpr const char* kGiveBack = "\x1b[?25h\x1b[?1049l";

std::atomic<bool> drawing{false};
std::atomic<bool> stop_wanted{false};

void take_stop(int number);

void handle_stops() {
  struct sigaction action {};
  action.sa_handler = take_stop;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTSTP, &action, nullptr);
}

// Stops here, and comes back when the process goes on.
void stop() {
  Interruption::say_last_words();
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGTSTP, &usual, nullptr);
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTSTP);
  ::raise(SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, &before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  handle_stops();
  Interruption::raised() = true;  // to draw it anew
}

void take_stop(int number) {
  if (Interruption::is_passed_on(number)) return;
  if (drawing) {
    stop_wanted = true;
    return;
  }
  stop();
}

}  // namespace

Screen::Screen() {
  ::sigaction(SIGTSTP, nullptr, &before_);
  if (before_.sa_handler != SIG_IGN) handle_stops();
}

Screen::~Screen() {
  Interruption::say_last_words();
  ::sigaction(SIGTSTP, &before_, nullptr);
}

bool Screen::is_ours() const {
  return is_in_foreground(STDERR_FILENO);
}

void Screen::draw(const std::string& text) {
  drawing = true;
  const std::string all = (Interruption::has_last_words() ? "" : kTake) + text;
  Interruption::last_words(kGiveBack);
  write_all(STDERR_FILENO, {reinterpret_cast<const std::byte*>(all.data()), all.size()});
  drawing = false;
  if (stop_wanted.exchange(false)) stop();
}

}  // namespace npu::cli
