// SPDX-License-Identifier: Apache-2.0
// Starts a program as a child process, without a shell.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace npu {

struct ChildProgram {
  std::string file;                      // a path, or a name in PATH
  std::vector<std::string> arguments;    // the first is the program's name
  std::vector<std::string> environment;  // NAME=VALUE, complete
  std::array<int, 3> standard{0, 1, 2};  // input, output and errors; -1: /dev/null
  // Starts it in its own process group, with no signal ignored.
  bool own_group = false;
  bool ends_with_parent = false;  // killed when the starting thread ends
};

// The environment of this process, with these variables added or replaced.
inline std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string text(*each);
    const bool stays = std::none_of(variables.begin(), variables.end(), [&](const auto& other) {
      return text.rfind(other.first + "=", 0) == 0;
    });
    if (stays) all.push_back(text);
  }
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

namespace detail {

inline std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Whether `file` is now the child's descriptor number `place`.
inline bool put_file(int file, int place) {
  if (file < 0) file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (file != place) return ::dup2(file, place) >= 0;
  ::fcntl(file, F_SETFD, 0);
  return true;
}

// Between vfork() and exec, on the parent's memory: system calls only. Handlers of the parent must
// not run here, so they go before signals are let in. Returns if there is no program.
inline void become(const ChildProgram& program, char* const* arguments, char* const* environment,
                   pid_t parent) {
  if (program.own_group) ::setpgid(0, 0);
  if (program.ends_with_parent) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (program.ends_with_parent && ::getppid() != parent) return;  // it has ended before that
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction now {};
    const bool known = ::sigaction(signal, nullptr, &now) == 0;
    if (known && (program.own_group || now.sa_handler != SIG_IGN)) ::signal(signal, SIG_DFL);
  }
  // Errors first: what a caller gives for them may be a number that input or output gets.
  for (int place = STDERR_FILENO; place >= STDIN_FILENO; --place) {
    if (!put_file(program.standard[static_cast<unsigned>(place)], place)) return;
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvpe(program.file.c_str(), arguments, environment);
}

}  // namespace detail

// Returns -1 and sets errno if there is no such program, or no process is possible.
inline pid_t start_child(const ChildProgram& program) {
  const auto arguments = detail::pointers_to(program.arguments);
  const auto environment = detail::pointers_to(program.environment);
  const pid_t parent = ::getpid();
  volatile int error = 0;
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::vfork();
  if (child == 0) {
    detail::become(program, arguments.data(), environment.data(), parent);
    error = errno;
    ::_exit(1);
  }
  if (child < 0) error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) return child;
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  errno = error;
  return -1;
}

// The exit code, or 128 + n if signal n ended it. `status`: from waitpid().
inline int exit_code_of(int status) {
  constexpr int kSignalled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

}  // namespace npu
