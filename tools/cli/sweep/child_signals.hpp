// SPDX-License-Identifier: Apache-2.0
// The end of child processes as a file descriptor that can be polled.
#pragma once

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace npu::sweep {

class ChildSignals {
 public:
  ChildSignals() {
    std::signal(SIGCHLD, SIG_DFL);  // whoever ignores it has no children to wait for
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    file_ = ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  }
  ~ChildSignals() { ::close(file_); }
  ChildSignals(const ChildSignals&) = delete;
  ChildSignals& operator=(const ChildSignals&) = delete;
  int file() const { return file_; }
  void take() {
    signalfd_siginfo signal{};
    while (::read(file_, &signal, sizeof signal) > 0) {
    }
  }

 private:
  int file_ = -1;
};

}  // namespace npu::sweep
