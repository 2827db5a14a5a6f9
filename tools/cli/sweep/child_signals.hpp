// SPDX-License-Identifier: Apache-2.0
// The end of child processes as a file descriptor that can be polled.
#pragma once

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

#include "npu/base/file_descriptor.hpp"

namespace npu::sweep {

class ChildSignals {
 public:
  ChildSignals() {
    std::signal(SIGCHLD, SIG_DFL);  // whoever ignores it has no children to wait for
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    file_ = FileDescriptor(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  }
  int file() const { return file_.get(); }
  void take() {
    signalfd_siginfo signal{};
    while (::read(file_.get(), &signal, sizeof signal) > 0) {
    }
  }

 private:
  FileDescriptor file_;
};

}  // namespace npu::sweep
