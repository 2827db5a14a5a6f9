// SPDX-License-Identifier: Apache-2.0
// Whoever waits for a kernel need not wait on: what was started for it is gone then.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "kernels/jit/child.hpp"
#include "tests/unit/jit/workshop.hpp"

namespace npu::jit {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::chrono::milliseconds kHour(3'600'000);

// A FIFO that somebody opens for writing.
class Fifo {
 public:
  explicit Fifo(std::string path) : path_(std::move(path)) {
    if (mkfifo(path_.c_str(), 0600) != 0) std::abort();
    reading_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~Fifo() { close(reading_); }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  const std::string& path() const { return path_; }
  bool has_a_word() const {
    pollfd word{reading_, POLLIN, 0};
    return poll(&word, 1, 0) == 1 && (word.revents & POLLIN) != 0;
  }
  // Returns when no writer lives; ctest's time-out ends one that does.
  void wait_for_the_end() const {
    char byte = 0;
    for (ssize_t count = -1; count != 0; count = read(reading_, &byte, 1)) {
      pollfd end{reading_, POLLIN, 0};
      poll(&end, 1, 1);
    }
  }

 private:
  std::string path_;
  int reading_;
};

TEST(Interrupted, ChildIsKilledWithItsChildren) {
  const Workshop workshop;
  const Fifo fifo(workshop.path("fifo"));
  const std::string script =
      "exec > " + fifo.path() + "; trap '' INT TERM; echo begun; sleep 100000 & sleep 100000";
  const auto result = run_child({{"/bin/sh", "-c", script},
                                 {"PATH=/usr/bin:/bin"},
                                 kHour,
                                 [&] { return fifo.has_a_word(); }})
                          .value();
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  fifo.wait_for_the_end();
}

// A compiler that the first time says so in `fifo` and never ends; later ones work.
std::string first_never_ends(const Workshop& workshop, const Fifo& fifo) {
  return workshop.compiler("if mkdir " + workshop.path("first") + " 2>/dev/null; then exec 3> " +
                           fifo.path() +
                           "; echo torn > \"$out\"; echo begun >&3; sleep 100000; fi");
}

TEST(Interrupted, CompilationLeavesNoChildNoLockAndNoFiles) {
  const Workshop workshop;
  const Fifo fifo(workshop.path("fifo"));
  fs::create_directory(workshop.path("scratch"));
  ASSERT_EQ(setenv("TMPDIR", workshop.path("scratch").c_str(), 1), 0);
  KernelCache cache(workshop.toolchain(first_never_ends(workshop, fifo)), workshop.options());
  unsigned asked_behind = 0;
  bool stopped = false;
  const auto loaded = cache.get(answering(5), [&] {
    asked_behind += stopped ? 1 : 0;
    stopped = fifo.has_a_word();
    return stopped;
  });
  unsetenv("TMPDIR");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kAborted);
  EXPECT_EQ(asked_behind, 0U);
  fifo.wait_for_the_end();
  EXPECT_THAT(workshop.stored(".lock"), IsEmpty());
  EXPECT_THAT(workshop.stored(".part"), IsEmpty());
  EXPECT_TRUE(fs::is_empty(workshop.path("scratch")));
  EXPECT_EQ(cache.counters().compiled, 0U);
  EXPECT_EQ(answer_of(cache.get(answering(5)).value()), 5);
}

TEST(Interrupted, ThreadLeavesTheWorkToTheOthers) {
  const Workshop workshop;
  const Fifo fifo(workshop.path("fifo"));
  KernelCache cache(workshop.toolchain(first_never_ends(workshop, fifo)), workshop.options());
  std::atomic<bool> other_waits{false};
  std::thread other;
  const auto loaded = cache.get(answering(5), [&] {
    if (!fifo.has_a_word()) return false;
    if (!other.joinable()) {
      other = std::thread([&] {
        const auto found = cache.get(answering(5), [&] {
          other_waits = true;
          return false;
        });
        EXPECT_TRUE(found && answer_of(*found) == 5);
      });
    }
    return other_waits.load();
  });
  EXPECT_FALSE(loaded);
  other.join();
  EXPECT_EQ(workshop.starts(), 2);
  EXPECT_THAT(workshop.stored(), SizeIs(1));
}

TEST(Interrupted, WaitForAnotherThreadsKernel) {
  const Workshop workshop;
  const Fifo fifo(workshop.path("fifo"));
  KernelCache cache(workshop.toolchain(first_never_ends(workshop, fifo)), workshop.options());
  std::atomic<bool> end{false};
  std::thread first([&] { EXPECT_FALSE(cache.get(answering(5), [&] { return end.load(); })); });
  while (!fifo.has_a_word()) std::this_thread::yield();
  const auto loaded = cache.get(answering(5), [] { return true; });
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kAborted);
  end = true;
  first.join();
}

// Two caches are to each other what two processes are.
TEST(Interrupted, WaitForAnotherProcessesKernel) {
  const Workshop workshop;
  const Fifo fifo(workshop.path("fifo"));
  const auto toolchain = workshop.toolchain(first_never_ends(workshop, fifo));
  KernelCache cache(toolchain, workshop.options());
  std::atomic<bool> end{false};
  std::thread first([&] {
    KernelCache theirs(toolchain, workshop.options());
    EXPECT_FALSE(theirs.get(answering(5), [&] { return end.load(); }));
  });
  while (!fifo.has_a_word()) std::this_thread::yield();
  const auto loaded = cache.get(answering(5), [] { return true; });
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kAborted);
  EXPECT_EQ(workshop.starts(), 1);
  end = true;
  first.join();
  EXPECT_EQ(cache.get(answering(5)).value().origin, Origin::kCompiled);
}

}  // namespace
}  // namespace npu::jit
