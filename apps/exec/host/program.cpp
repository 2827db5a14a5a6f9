// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/host/program.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "apps/exec/host/thread_states.hpp"
#include "npu/base/file_descriptor.hpp"

namespace npu::exec {
namespace {

constexpr int kNotStarted = 127;

// Between fork and exec: the environment is a copy, and no other thread of this process looks at
// it.
[[noreturn]] void become(char* const* words, int failed, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent) ::execvp(words[0], words);
  const int error = errno;
  const auto written = ::write(failed, &error, sizeof error);
  static_cast<void>(written);
  ::_exit(kNotStarted);
}

// What execvp() said; 0: the program runs.
int error_of(int file) {
  int error = 0;
  ssize_t got = -1;
  do {
    got = ::read(file, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == sizeof error ? error : 0;
}

}  // namespace

Result<pid_t> start_program(const std::vector<std::string>& words,
                            const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const auto& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return fail(ErrorCode::kIo, words[0] + ": " + std::strerror(errno));
  }
  const FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    become(pointers.data(), writing.get(), parent);
  }
  if (child < 0) return fail(ErrorCode::kIo, words[0] + ": " + std::strerror(errno));
  writing.reset();
  const int error = error_of(reading.get());
  if (error == 0) return child;
  ::waitpid(child, nullptr, 0);
  return fail(ErrorCode::kNotFound, words[0] + ": " + std::strerror(error));
}

void adopt_orphans(bool adopt) {
  ::prctl(PR_SET_CHILD_SUBREAPER, adopt ? 1 : 0);
}

bool has_orphans(const std::function<bool(pid_t)>& is_known) {
  bool some = false;
  for (const pid_t child : children_of(::getpid())) {
    if (!is_known(child) && ::waitpid(child, nullptr, WNOHANG) == 0) some = true;
  }
  return some;
}

// Whose parent has gone is a child of this one at the next look.
void end_children() {
  for (auto children = children_of(::getpid()); !children.empty();
       children = children_of(::getpid())) {
    for (const pid_t child : children) ::kill(child, SIGKILL);
    for (const pid_t child : children) {
      while (::waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
      }
    }
  }
}

int exit_code_of(int status) {
  constexpr int kSignalled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

}  // namespace npu::exec
