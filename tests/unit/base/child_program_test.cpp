// SPDX-License-Identifier: Apache-2.0
#include "npu/base/child_program.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "npu/base/file_descriptor.hpp"

namespace npu {
namespace {

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    reading = FileDescriptor(ends[0]);
    writing = FileDescriptor(ends[1]);
  }
  std::string rest() {
    writing.reset();
    std::string text;
    char piece[256];
    for (ssize_t got = 1; got > 0;) {
      got = ::read(reading.get(), piece, sizeof piece);
      if (got > 0) text.append(piece, static_cast<std::size_t>(got));
    }
    return text;
  }
  FileDescriptor reading, writing;
};

ChildProgram shell(const std::string& script) {
  ChildProgram program;
  program.file = "sh";
  program.arguments = {"sh", "-c", script};
  program.environment = environment_with({});
  return program;
}

int status_of(const ChildProgram& program) {
  int status = -1;
  const pid_t child = start_child(program);
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(ChildProgram, HasTheFilesThatItIsGiven) {
  Pipe pipe;
  auto program = shell("cat; echo out; echo err >&2");
  program.standard = {-1, pipe.writing.get(), pipe.writing.get()};
  EXPECT_EQ(status_of(program), 0);
  EXPECT_EQ(pipe.rest(), "out\nerr\n");
}

TEST(ChildProgram, GetsErrorsInAFileThatHasTheNumberOfItsOutput) {
  Pipe pipe;
  const pid_t other = ::fork();
  if (other == 0) {
    ::dup2(pipe.writing.get(), STDOUT_FILENO);
    auto program = shell("echo out; echo err >&2");
    program.standard = {-1, -1, STDOUT_FILENO};
    ::_exit(status_of(program));
  }
  EXPECT_EQ(pipe.rest(), "err\n");
  ::waitpid(other, nullptr, 0);
}

TEST(ChildProgram, IsEndedBySignalsThatItsParentHandlesAndLeavesItsParentTheHandler) {
  const auto handler = [](int) {};
  const auto before = std::signal(SIGUSR1, handler);
  const int status = status_of(shell("kill -USR1 $$"));
  EXPECT_EQ(std::signal(SIGUSR1, before), static_cast<void (*)(int)>(handler));
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(exit_code_of(status), 128 + SIGUSR1);
}

TEST(ChildProgram, IgnoresWhatItsParentIgnoresUnlessItHasAGroupOfItsOwn) {
  const auto before = std::signal(SIGUSR2, SIG_IGN);
  auto program = shell("kill -USR2 $$; exit 3");
  EXPECT_EQ(exit_code_of(status_of(program)), 3);
  program.own_group = true;
  EXPECT_EQ(exit_code_of(status_of(program)), 128 + SIGUSR2);
  std::signal(SIGUSR2, before);
}

TEST(ChildProgram, BlocksNoSignalAndItsParentTheSameAsBefore) {
  sigset_t one, before, after;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &one, &before);
  EXPECT_EQ(exit_code_of(status_of(shell("kill -USR1 $$"))), 128 + SIGUSR1);
  ::pthread_sigmask(SIG_SETMASK, &before, &after);
  EXPECT_EQ(sigismember(&after, SIGUSR1), 1);
  EXPECT_EQ(sigismember(&after, SIGUSR2), 0);
}

TEST(ChildProgram, HasOurEnvironmentWithVariablesOfItsOwn) {
  ::setenv("NPU_TEST_KEPT", "kept", 1);
  ::setenv("NPU_TEST_OTHER", "ours", 1);
  Pipe pipe;
  auto program = shell("echo $NPU_TEST_KEPT $NPU_TEST_OTHER; env | grep -c ^NPU_TEST_");
  program.environment = environment_with({{"NPU_TEST_OTHER", "its own"}});
  program.standard[1] = pipe.writing.get();
  EXPECT_EQ(status_of(program), 0);
  EXPECT_EQ(pipe.rest(), "kept its own\n2\n");
}

TEST(ChildProgram, EndsWithItsParentIfItIsAskedTo) {
  Pipe pipe;
  const pid_t parent = ::fork();
  if (parent == 0) {
    auto program = shell("exec sleep 100000");
    program.standard[1] = pipe.writing.get();
    program.ends_with_parent = true;
    ::_exit(start_child(program) < 0 ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(pipe.rest(), "");  // a child that lives keeps the pipe open: ctest's time-out ends this
}

TEST(ChildProgram, ThatDoesNotExistIsAnErrorAndLeavesNoChild) {
  auto program = shell("");
  program.file = "/no/such/program";
  EXPECT_EQ(start_child(program), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace npu
