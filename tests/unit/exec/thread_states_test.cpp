// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/host/thread_states.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

namespace npu::exec {
namespace {

TEST(ThreadStates, TellWhoRunsAndWhoSleeps) {
  std::mutex lock;
  std::condition_variable ended;
  bool over = false;
  std::thread sleeper([&] {
    std::unique_lock<std::mutex> held(lock);
    ended.wait(held, [&] { return over; });
  });
  std::vector<ThreadState> states;
  do {
    states = thread_states(::getpid());
  } while (states.size() != 2 || states[1].state != 'S');
  EXPECT_EQ(count_threads(::getpid()), 2U);
  EXPECT_EQ(states[0].state, 'R');
  {
    const std::lock_guard<std::mutex> held(lock);
    over = true;
  }
  ended.notify_all();
  sleeper.join();
}

TEST(ThreadStates, AreNoneOfAProcessThatThereIsNot) {
  constexpr pid_t kNobody = 0x7FFF'FFF0;
  EXPECT_TRUE(thread_states(kNobody).empty());
  EXPECT_EQ(count_threads(kNobody), 0U);
  EXPECT_TRUE(children_of(kNobody).empty());
  EXPECT_TRUE(has_ended(kNobody));
}

TEST(ThreadStates, TellChildrenUntilTheyAreWaitedFor) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    ::_exit(::read(ends[0], &byte, 1) == 1 ? 0 : 1);
  }
  EXPECT_EQ(children_of(::getpid()), std::vector<pid_t>{child});
  EXPECT_FALSE(has_ended(child));
  ASSERT_EQ(::write(ends[1], "", 1), 1);
  while (!has_ended(child)) ::usleep(100);
  EXPECT_EQ(children_of(::getpid()), std::vector<pid_t>{child});
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(children_of(::getpid()).empty());
  ::close(ends[0]);
  ::close(ends[1]);
}

// What a process that has children, one after the other, says of itself.
struct Parent {
  std::atomic<pid_t> child;
  std::atomic<unsigned> reaped;
};

[[noreturn]] void have_children(Parent& parent) {
  for (;;) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    parent.child = child;
    ::waitpid(child, nullptr, 0);
    ++parent.reaped;
  }
}

bool sleeps(pid_t process) {
  const auto states = thread_states(process);
  return states.size() == 1 && states.front().state == 'S' && states == thread_states(process);
}

// Its child has ended, and it has not yet said that it knows: it is at work in the kernel.
TEST(ThreadStates, DoNotTakeAParentThatReapsForOneThatSleeps) {
  void* const page =
      ::mmap(nullptr, sizeof(Parent), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto& parent = *new (page) Parent{};
  const pid_t process = ::fork();
  if (process == 0) have_children(parent);
  unsigned wrong = 0;
  while (parent.reaped < 3000) {
    const unsigned before = parent.reaped;
    const pid_t child = parent.child;
    if (child == 0 || !has_ended(child)) continue;
    const bool asleep = sleeps(process);
    if (parent.child != child || parent.reaped != before) continue;
    if (asleep) ++wrong;
  }
  EXPECT_EQ(wrong, 0U);
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  ::munmap(page, sizeof(Parent));
}

// SIGTERM as well, to a thread that has no other signal to take.
TEST(ThreadStates, SayThatAProcessEndsAsSoonAsItIsKilled) {
  for (unsigned i = 0; i < 200; ++i) {
    FirstThread first;
    const pid_t process = ::fork();
    if (process == 0) {
      for (;;) ::pause();
    }
    while (!sleeps(process)) ::usleep(10);
    EXPECT_FALSE(first.is_ending(process));
    ::kill(process, i % 2 == 0 ? SIGKILL : SIGTERM);
    EXPECT_TRUE(first.is_ending(process));
    while (!has_ended(process)) EXPECT_TRUE(first.is_ending(process));
    EXPECT_TRUE(first.is_ending(process));
    ::waitpid(process, nullptr, 0);
    EXPECT_TRUE(first.is_ending(process));
  }
}

}  // namespace
}  // namespace npu::exec
