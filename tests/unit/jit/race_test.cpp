// SPDX-License-Identifier: Apache-2.0
// Threads and processes that want the same kernels at the same time, and some that die meanwhile.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <thread>

#include "tests/unit/jit/workshop.hpp"

namespace npu::jit {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr int kProcesses = 8;
constexpr int kThreads = 8;
constexpr int kKeys = 16;

// Counted by all processes together.
struct Shared {
  std::atomic<int> waiting{0};
  std::atomic<int> right{0};
  std::atomic<int> compiled{0};
  std::atomic<int> disk_hits{0};
  std::atomic<int> memory_hits{0};
  std::atomic<int> rejected{0};
};

class SharedMemory {
 public:
  SharedMemory()
      : memory_(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0)),
        shared_(new (memory_) Shared) {}
  ~SharedMemory() { munmap(memory_, sizeof(Shared)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  Shared* operator->() const { return shared_; }
  Shared& operator*() const { return *shared_; }

 private:
  void* memory_;
  Shared* shared_;
};

// Each process with each of its threads gets all kernels, every thread beginning with another one.
void race(const Toolchain& toolchain, const CacheOptions& options, Shared& shared) {
  std::array<pid_t, kProcesses> children{};
  for (auto& child : children) {
    child = fork();
    if (child != 0) continue;
    KernelCache cache(toolchain, options);
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        ++shared.waiting;
        while (shared.waiting < kProcesses * kThreads) std::this_thread::yield();
        for (int i = 0; i < kKeys; ++i) {
          const int answer = (i + 2 * thread) % kKeys;
          const auto loaded = cache.get(answering(answer));
          if (loaded && answer_of(*loaded) == answer) ++shared.right;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    const auto counters = cache.counters();
    shared.compiled += static_cast<int>(counters.compiled);
    shared.disk_hits += static_cast<int>(counters.disk_hits);
    shared.memory_hits += static_cast<int>(counters.memory_hits);
    shared.rejected += static_cast<int>(counters.rejected);
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

void expect_all_right(const Shared& shared, const Workshop& workshop) {
  EXPECT_EQ(shared.right, kProcesses * kThreads * kKeys);
  EXPECT_EQ(shared.disk_hits + shared.compiled, kProcesses * kKeys) << "once for each process";
  EXPECT_EQ(shared.memory_hits, kProcesses * (kThreads - 1) * kKeys);
  EXPECT_THAT(workshop.stored(), SizeIs(kKeys));
  EXPECT_THAT(workshop.stored(".part"), IsEmpty());
  EXPECT_THAT(workshop.stored(".lock"), IsEmpty());
}

TEST(Race, CompilesEachKernelOnce) {
  const Workshop workshop;
  const SharedMemory shared;
  race(workshop.toolchain(workshop.compiler()), workshop.options(), *shared);
  expect_all_right(*shared, workshop);
  EXPECT_EQ(workshop.starts(), kKeys);
  EXPECT_EQ(shared->compiled, kKeys);
  EXPECT_EQ(shared->rejected, 0);
}

TEST(Race, StartsACompilerThatWasKilledOnceMore) {
  const Workshop workshop;
  const SharedMemory shared;
  const auto compiler =
      workshop.compiler("if mkdir " + workshop.path("killed") +
                        " 2>/dev/null; then echo torn > \"$out\"; kill -9 $$; fi");
  race(workshop.toolchain(compiler), workshop.options(), *shared);
  expect_all_right(*shared, workshop);
  EXPECT_EQ(workshop.starts(), kKeys + 1);
  EXPECT_EQ(shared->compiled, kKeys);
}

TEST(Race, WithTornObjectsInTheFolderMakesThemAnewOnce) {
  const Workshop workshop;
  const SharedMemory shared;
  const auto toolchain = workshop.toolchain(workshop.compiler());
  KernelCache before(toolchain, workshop.options());
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(before.get(answering(i)));
  const auto stored = workshop.stored();
  for (std::size_t i = 0; i < 4; ++i) ASSERT_EQ(truncate(stored[i].c_str(), 1000), 0);
  race(toolchain, workshop.options(), *shared);
  expect_all_right(*shared, workshop);
  EXPECT_EQ(workshop.starts(), kKeys + 4);
  EXPECT_EQ(shared->compiled, 4);
  EXPECT_GE(shared->rejected, 4);
}

TEST(Race, WithALimitOfOneObjectIsRightAllTheSame) {
  const Workshop workshop;
  const SharedMemory shared;
  CacheOptions options = workshop.options();
  options.limit = 1;
  race(workshop.toolchain(workshop.compiler()), options, *shared);
  EXPECT_EQ(shared->right, kProcesses * kThreads * kKeys);
  EXPECT_EQ(shared->rejected, 0);
  EXPECT_THAT(workshop.stored(".part"), IsEmpty());
}

TEST(KilledCompiler, TwiceIsAnError) {
  const Workshop workshop;
  KernelCache cache(workshop.toolchain(workshop.compiler("kill -9 $$")), workshop.options());
  const auto loaded = cache.get(answering(1));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kAborted);
  EXPECT_EQ(workshop.starts(), 2);
}

// A process is killed while its compiler works, and so holds the kernel's lock.
TEST(KilledProcess, LeavesNoLock) {
  const Workshop workshop;
  const std::string begun = workshop.path("begun");
  const std::string go_on = workshop.path("go_on");
  ASSERT_EQ(mkfifo(begun.c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(go_on.c_str(), 0600), 0);
  const auto compiler =
      workshop.compiler("if mkdir " + workshop.path("first") + " 2>/dev/null; then echo > " +
                        begun + "; cat " + go_on + "; fi");
  const auto toolchain = workshop.toolchain(compiler);
  const pid_t child = fork();
  if (child == 0) {
    KernelCache cache(toolchain, workshop.options());
    _exit(cache.get(answering(5)) ? 0 : 1);
  }
  const int word = open(begun.c_str(), O_RDONLY | O_CLOEXEC);
  char byte = 0;
  ASSERT_EQ(read(word, &byte, 1), 1);  // the compiler runs
  close(word);
  EXPECT_THAT(workshop.stored(".lock"), SizeIs(1));
  std::thread waiting([&] {
    KernelCache cache(toolchain, workshop.options());
    const auto loaded = cache.get(answering(5));
    EXPECT_TRUE(loaded && answer_of(*loaded) == 5);
  });
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it was done before it was killed";
  waiting.join();
  EXPECT_EQ(workshop.starts(), 2);
  EXPECT_THAT(workshop.stored(), SizeIs(1));
  EXPECT_THAT(workshop.stored(".lock"), IsEmpty());
  close(open(go_on.c_str(), O_WRONLY));  // the compiler without a parent ends
}

}  // namespace
}  // namespace npu::jit
