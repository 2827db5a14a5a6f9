// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP of a simulation: the first is looked at when it suits, the second ends
// the process at once.
#pragma once

#include <atomic>
#include <string>

namespace npu::cli {

class Interruption {
 public:
  // From now until the process ends, on the main thread: what is written behind a run is not lost
  // by one signal either. One that was ignored before (nohup) stays so.
  static void take_signals();

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
};

// "SIGINT"
std::string signal_name(int signal);

}  // namespace npu::cli
