// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/child.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "tests/unit/jit/workshop.hpp"

namespace npu::jit {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPlenty(600'000);

Result<ChildResult> shell(const std::string& script, milliseconds time_out = kPlenty) {
  return run_child({{"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin", "A=b c"}, time_out});
}

TEST(Child, GivesItsOutputAndHowItEnded) {
  const auto result = shell("echo out; echo err >&2; exit 3").value();
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(shell("kill -9 $$").value().signal, SIGKILL);
}

TEST(Child, HasTheEnvironmentThatItIsGivenAndNoInput) {
  EXPECT_EQ(shell("echo \"$A$HOME\"; cat").value().output, "b c\n");
}

TEST(Child, GetsArgumentsAsTheyAre) {
  const auto result =
      run_child({{"/usr/bin/printf", "%s|", "a b", "$HOME", "`x`", "*", "\"'"}, {}, kPlenty});
  EXPECT_EQ(result.value().output, "a b|$HOME|`x`|*|\"'|");
}

TEST(Child, KeepsTheBeginningOfALongOutput) {
  const auto result = shell("echo first; yes | head -c 1000000; exit 5").value();
  EXPECT_EQ(result.output.size(), 65'536U);
  EXPECT_EQ(result.output.substr(0, 8), "first\ny\n");
  EXPECT_EQ(result.exit_code, 5);
}

TEST(Child, IsNotWaitedForThroughItsChildren) {
  const auto result = shell("sleep 100000 & echo done").value();
  EXPECT_EQ(result.output, "done\n");
  EXPECT_FALSE(result.timed_out);
}

// Whoever of the child's group lives holds the other end of the FIFO.
TEST(Child, ThatTakesTooLongIsKilledWithItsChildren) {
  const Workshop workshop;
  const std::string fifo = workshop.path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int reading = open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const auto result =
      shell("exec > " + fifo + "; trap '' TERM; sleep 100000 & sleep 100000", milliseconds(500));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->signal, SIGKILL);
  char byte = 0;
  ssize_t count = -1;
  do {
    pollfd end{reading, POLLIN, 0};
    ASSERT_NE(poll(&end, 1, 1), -1);
    count = read(reading, &byte, 1);
  } while (count < 0);  // somebody still writes: ctest's time-out ends this
  EXPECT_EQ(count, 0);
  close(reading);
}

TEST(Child, ThatIsNoProgramIsAnError) {
  const auto missing = run_child({{"/no/such/program"}, {}, kPlenty});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().context, testing::HasSubstr("/no/such/program"));
  EXPECT_FALSE(run_child({{"/dev/null"}, {}, kPlenty}));
}

TEST(Compilation, ThatTakesTooLongIsAnErrorThatSaysSo) {
  const Workshop workshop;
  auto toolchain = workshop.toolchain(workshop.compiler("sleep 100000"));
  toolchain.time_out = milliseconds(500);
  KernelCache cache(toolchain, workshop.options());
  const auto loaded = cache.get(answering(1));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(loaded.error().context, testing::HasSubstr("took more than 500 ms"));
  EXPECT_THAT(workshop.stored(".lock"), testing::IsEmpty());
}

}  // namespace
}  // namespace npu::jit
