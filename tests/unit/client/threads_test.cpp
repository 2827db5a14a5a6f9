// SPDX-License-Identifier: Apache-2.0
// The client library in a program of many threads, against a server without a machine.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <thread>
#include <vector>

#include "apps/compat/client/page_faults.hpp"
#include "apps/compat/client/pinned.hpp"
#include "apps/compat/client/request.hpp"
#include "tests/unit/client/fake_server.hpp"

namespace npu::compat {
namespace {

constexpr unsigned kCrowd = 8;

// Threads that begin together; returns when all have ended.
void crowd(const std::function<void(unsigned)>& body) {
  std::atomic<unsigned> ready{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kCrowd; ++i) {
    threads.emplace_back([&, i] {
      ready.fetch_add(1);
      while (ready.load() != kCrowd) std::this_thread::yield();
      body(i);
    });
  }
  for (auto& thread : threads) thread.join();
}

// In a thread of its own: a thread keeps its connection, and servers come and go with the tests.
void alone(const std::function<void()>& body) {
  std::thread(body).join();
}

class ClientThreadsTest : public testing::Test {
 protected:
  test::FakeServer server_;
};

TEST_F(ClientThreadsTest, EveryThreadHasItsOwnAnswers) {
  crowd([](unsigned i) {
    for (std::uint64_t n = 0; n < 200; ++n) {
      const auto asked = n * kCrowd + i;
      std::uint64_t answered = 0;
      ASSERT_EQ(ask_for<Call::kMemExport>(&answered, {asked}), 0);
      ASSERT_EQ(answered, test::FakeServer::answer_to(asked));
    }
  });
  EXPECT_EQ(server_.connections(), kCrowd);
}

TEST_F(ClientThreadsTest, TheServerHearsOfEveryThreadsEnd) {
  constexpr unsigned kLives = 10;
  for (unsigned life = 0; life < kLives; ++life) {
    crowd([](unsigned) { ASSERT_EQ(ask<Call::kGetDevice>(), 0); });
  }
  EXPECT_EQ(server_.connections(), kLives * kCrowd);
  while (server_.ends() != kLives * kCrowd) std::this_thread::yield();
}

TEST_F(ClientThreadsTest, AChildThatOneThreadMakesIsKnownToAll) {
  crowd([](unsigned i) {
    for (std::uint64_t n = 0; n < 50; ++n) {
      ASSERT_EQ(ask<Call::kGetDevice>(), 0);
      if (i != 0 || n % 10 != 0) continue;
      const pid_t child = ::fork();
      if (child == 0) ::_exit(0);
      ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    }
  });
  alone([] { EXPECT_EQ(ask<Call::kGetDevice>(), 0); });
  EXPECT_EQ(server_.most_children(), 2U);
}

TEST_F(ClientThreadsTest, PinnedMemoryIsFoundByAllWhileItComesAndGoes) {
  void* common = nullptr;
  alone([&] { EXPECT_EQ(allocate_pinned(&common, 8192), 0); });
  crowd([&](unsigned) {
    for (int n = 0; n < 30; ++n) {
      void* own = nullptr;
      ASSERT_EQ(allocate_pinned(&own, 4096), 0);
      EXPECT_TRUE(find_pinned(own));
      EXPECT_TRUE(find_pinned(common));
      EXPECT_EQ(free_pinned(own), 0);
    }
  });
  alone([&] { EXPECT_EQ(free_pinned(common), 0); });
  EXPECT_FALSE(find_pinned(common));
}

std::atomic<unsigned> handled{0};

void count_one(int) {
  handled.fetch_add(1);
}
void count_ten(int) {
  handled.fetch_add(10);
}

// Before they are caught and afterwards: nobody's word is lost.
TEST_F(ClientThreadsTest, HandlersMayChangeWhilePageFaultsBeginToBeCaught) {
  struct sigaction full {};
  full.sa_handler = count_one;
  sigfillset(&full.sa_mask);
  ::signal(SIGSEGV, count_one);
  crowd([&](unsigned i) {
    if (i == 0) catch_page_faults();
    for (int n = 0; n < 50; ++n) {
      ASSERT_EQ(::sigaction(SIGRTMIN + static_cast<int>(i), &full, nullptr), 0);
      ASSERT_EQ(::signal(SIGSEGV, count_one), count_one);
    }
  });
  for (unsigned i = 0; i < kCrowd; ++i) {
    struct sigaction now {};
    ::sigaction(SIGRTMIN + static_cast<int>(i), nullptr, &now);
    EXPECT_EQ(now.sa_handler, count_one);
    EXPECT_EQ(sigismember(&now.sa_mask, SIGSEGV), 0) << "a handler may touch managed memory";
  }
  ::signal(SIGSEGV, SIG_DFL);
}

TEST_F(ClientThreadsTest, AHandlerMayChangeWhileFaultsArePassedOnToIt) {
  ::signal(SIGSEGV, count_one);
  catch_page_faults();
  handled = 0;
  crowd([](unsigned i) {
    for (int n = 0; n < 50; ++n) {
      if (i % 2 == 0) {
        ::signal(SIGSEGV, n % 2 == 0 ? count_one : count_ten);
      } else {
        ::raise(SIGSEGV);
      }
    }
  });
  ::signal(SIGSEGV, SIG_DFL);
  EXPECT_GE(handled.load(), kCrowd / 2 * 50);
  EXPECT_LE(handled.load(), kCrowd / 2 * 50 * 10);
}

}  // namespace
}  // namespace npu::compat
