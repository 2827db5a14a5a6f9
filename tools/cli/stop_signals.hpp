// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM for commands that run until they are told to end.
#pragma once

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace npu::cli {

// SIGINT, SIGTERM and SIGHUP as a file descriptor, so that the report is written in peace.
class StopSignals {
 public:
  StopSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    file_ = ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  }
  ~StopSignals() { ::close(file_); }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  int file() const { return file_; }
  bool came() {
    signalfd_siginfo signal{};
    if (number_ == 0 &&
        ::read(file_, &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
      number_ = static_cast<int>(signal.ssi_signo);
    }
    return number_ != 0;
  }
  int number() const { return number_; }  // of the first that came; 0: none has

 private:
  int file_ = -1;
  int number_ = 0;
};

}  // namespace npu::cli
