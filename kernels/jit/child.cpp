// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "kernels/jit/file.hpp"
#include "npu/base/child_program.hpp"
#include "npu/base/shortened.hpp"

namespace npu::jit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOutput = std::size_t{64} << 10U;

// Takes what there is now; false: no more will come.
bool drain(int pipe, std::string& output) {
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = read(pipe, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    if (count == 0) return false;
    const std::size_t room = kMostOutput - output.size();
    output.append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
  }
}

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, kBetweenQuestions.count()));
}

// Until the child itself has ended. Grandchildren may hold the pipe for longer.
void watch(pid_t child, int process, int pipe, const Command& command, ChildResult& result) {
  const auto end = Clock::now() + command.time_out;
  bool killed = false;
  std::array<pollfd, 2> watched{pollfd{process, POLLIN, 0}, pollfd{pipe, POLLIN, 0}};
  for (;;) {
    const int ready = poll(watched.data(), watched.size(), killed ? -1 : milliseconds_until(end));
    if (ready < 0 && errno != EINTR) return;
    if (ready > 0 && watched[1].revents != 0 && !drain(pipe, result.output)) watched[1].fd = -1;
    if (ready > 0 && watched[0].revents != 0) return;
    if (killed) continue;
    result.interrupted = command.interrupted && command.interrupted();
    result.timed_out = !result.interrupted && Clock::now() >= end;
    killed = result.interrupted || result.timed_out;
    if (killed) kill(-child, SIGKILL);
  }
}

void reap(pid_t child, ChildResult& result) {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended < 0) {
    result.exit_code = -1;  // the calling program leaves no one to wait for (SIGCHLD ignored)
  } else if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
  } else {
    result.exit_code = WEXITSTATUS(status);
  }
}

}  // namespace

Result<ChildResult> run_child(const Command& command) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("pipe");
  const FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  fcntl(reading.get(), F_SETFL, O_NONBLOCK);
  ChildProgram program;
  program.file = command.arguments[0];
  program.arguments = command.arguments;
  program.environment = command.environment;
  program.standard = {-1, writing.get(), writing.get()};
  program.own_group = true;
  const pid_t child = start_child(program);
  if (child < 0) return fail_errno(shortened(command.arguments[0], kShownPath));
  writing.reset();

  ChildResult result;
  // glibc 2.36 declares pidfd_open() for C only.
  const FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  if (process) watch(child, process.get(), reading.get(), command, result);
  const bool watched = static_cast<bool>(process);
  if (watched) drain(reading.get(), result.output);
  // The group exists as long as its leader has not been waited for.
  kill(-child, SIGKILL);
  reap(child, result);
  if (!watched) return fail(ErrorCode::kIo, "the system gives no descriptor of a process");
  return result;
}

}  // namespace npu::jit
