// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "npu/base/shortened.hpp"
#include "tools/reports/output_file.hpp"

namespace npu::sweep {
namespace {

constexpr int kNotStarted = 127;

// Between fork and exec: system calls only.
[[noreturn]] void become_npusim(char* const* arguments, int log, int nothing, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool orphan = ::getppid() != parent;  // it ended before it was asked to take us along
  const bool placed = ::dup2(nothing, STDIN_FILENO) >= 0 && ::dup2(nothing, STDOUT_FILENO) >= 0 &&
                      ::dup2(log, STDERR_FILENO) >= 0;
  if (!orphan && placed && ::sigprocmask(SIG_SETMASK, &none, nullptr) == 0) {
    // The file that runs here, even if another has taken its place meanwhile.
    ::execv("/proc/self/exe", arguments);
  }
  ::_exit(kNotStarted);
}

}  // namespace

Result<pid_t> start_npusim(const std::vector<std::string>& arguments, const std::string& log) {
  std::vector<std::string> words{"npusim"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  constexpr mode_t kMode = 0666;
  const int errors = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  if (errors < 0) {
    return fail(ErrorCode::kIo,
                shortened(log, kShownPath) + ": cannot be written: " + reports::errno_text(errno));
  }
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const pid_t parent = ::getpid();
  const pid_t child = nothing < 0 ? -1 : ::fork();
  const int error = errno;
  if (child == 0) become_npusim(pointers.data(), errors, nothing, parent);
  ::close(errors);
  if (nothing >= 0) ::close(nothing);
  if (child < 0) {
    return fail(ErrorCode::kIo, "a run cannot be started: " + reports::errno_text(error));
  }
  return child;
}

int exit_code_of(int status) {
  constexpr int kSignalled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

}  // namespace npu::sweep
