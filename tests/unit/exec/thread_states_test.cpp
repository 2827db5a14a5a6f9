// SPDX-License-Identifier: Apache-2.0
#include "exec/host/thread_states.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
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
}

}  // namespace
}  // namespace npu::exec
