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
  // What standard error gets before the process ends or stops, so that a terminal is as before; a
  // literal.
  static void last_words(const char* text);
  // Writes them, once: for whoever wants it earlier, and for ends that destroy nothing.
  static void say_last_words();
  static bool has_last_words();
  // For handlers: of a signal that another thread has got, the main thread gets one.
  static bool is_passed_on(int signal);

 private:
  static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

// "SIGINT"
std::string signal_name(int signal);

}  // namespace npu::cli
