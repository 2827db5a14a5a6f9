// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP of a simulation: the first is looked at when it suits, the second ends
// the process at once.
#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <string>
#include <utility>

namespace npu::cli {

// One at a time. A signal that was ignored before (nohup) stays so.
class Interruption {
 public:
  Interruption();
  ~Interruption();  // what signals did before
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Set by a signal, and by whoever wants the simulation to have a look (Ticker).
  static std::atomic<bool>& raised();
  // Of the first that came; 0: none has.
  static int signal();
  // What the second signal writes to standard error before it ends the process; a literal, or null.
  static void last_words(const char* text);
  // Writes them: for ends of the process that destroy nothing.
  static void say_last_words();

 private:
  static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

// "SIGINT"
std::string signal_name(int signal);

}  // namespace npu::cli
