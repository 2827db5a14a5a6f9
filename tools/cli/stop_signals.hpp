// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM for commands that run until they are told to end.
#pragma once

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

#include "npu/base/file_descriptor.hpp"

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
    file_ = FileDescriptor(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  }
  int file() const { return file_.get(); }
  bool came() {
    signalfd_siginfo signal{};
    if (number_ == 0 &&
        ::read(file_.get(), &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
      number_ = static_cast<int>(signal.ssi_signo);
    }
    return number_ != 0;
  }
  int number() const { return number_; }  // of the first that came; 0: none has

 private:
  FileDescriptor file_;
  int number_ = 0;
};

}  // namespace npu::cli
