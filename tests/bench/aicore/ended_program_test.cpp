// SPDX-License-Identifier: Apache-2.0
// Programs that are not written to be stopped: whatever they do behind the end of their block, the
// core is free and the next block runs.
#include <stdexcept>

#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

constexpr SimTime kStop = 50'000 * kClock;  // the program runs by then
constexpr SimTime kNext = 1'000'000 * kClock;

// Waits for the other block of the launch, which never comes.
void wait_for_ever(AicorePort& port) {
  port.wait_cross_flag(Pipe::kScalar, platform::CrossScope::kSameType, 3);
}
std::uint64_t load_for_ever(AicorePort& port) {
  for (;;) port.load(kData, 8);
}

struct FlagKeeper {
  explicit FlagKeeper(AicorePort& on) : port(on) { port.set_flag(Pipe::kMte3, Pipe::kMte2, 0); }
  ~FlagKeeper() {
    port.wait_flag(Pipe::kMte3, Pipe::kMte2, 0);
    port.pipe_barrier(Pipe::kAll);
  }
  FlagKeeper(const FlagKeeper&) = delete;
  FlagKeeper& operator=(const FlagKeeper&) = delete;
  AicorePort& port;
};
// Answers in a destructor.
struct Reader {
  explicit Reader(AicorePort& on) : port(on) {}
  ~Reader() {
    while (port.load(kData, 8) == 0 && port.poll_again(~std::uint64_t{0})) continue;
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  AicorePort& port;
};
struct Waiter {
  explicit Waiter(AicorePort& on) : port(on) {}
  ~Waiter() { wait_for_ever(port); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  AicorePort& port;
};

struct Program {
  const char* name;
  Body body;
  friend std::ostream& operator<<(std::ostream& out, const Program& program) {
    return out << program.name;
  }
};

const Program kPrograms[] = {
    {"destructors_that_wait_while_the_stack_unwinds",
     [](AicorePort& port) {
       const FlagKeeper keeper(port);
       return static_cast<int>(load_for_ever(port));
     }},
    {"a_destructor_that_waits_at_the_end_of_its_scope",
     [](AicorePort& port) {
       { const Waiter waiter(port); }
       return 0;
     }},
    {"a_destructor_that_reads_at_the_end_of_its_scope",
     [](AicorePort& port) {
       { const Reader reader(port); }
       return 0;
     }},
    {"a_destructor_that_reads_while_the_stack_unwinds",
     [](AicorePort& port) {
       const Reader reader(port);
       return static_cast<int>(load_for_ever(port));
     }},
    {"everything_is_caught_and_tried_again",
     [](AicorePort& port) {
       for (;;) {
         try {
           load_for_ever(port);
         } catch (...) {
         }
       }
       return 0;
     }},
    {"everything_is_caught_and_forgotten",
     [](AicorePort& port) {
       try {
         load_for_ever(port);
       } catch (...) {
       }
       return 0;
     }},
    {"a_loop_of_calls_without_an_answer",
     [](AicorePort& port) {
       for (;;) port.scalar(100);
       return 0;
     }},
    {"a_trap_in_a_handler",
     [](AicorePort& port) {
       try {
         load_for_ever(port);
       } catch (...) {
         port.trap(1);
       }
       return 0;
     }},
    {"an_exception_of_its_own_in_a_handler",
     [](AicorePort& port) -> int {
       try {
         load_for_ever(port);
       } catch (...) {
         throw std::runtime_error("a kernel's own");
       }
       return 0;
     }},
    {"a_wait_while_an_exception_of_its_own_unwinds_the_stack",
     [](AicorePort& port) -> int {
       const Waiter waiter(port);
       throw std::runtime_error("a kernel's own");
     }},
};

class EndedProgram : public testing::TestWithParam<Program> {
 protected:
  // The core is free again: a block on it ends by itself.
  static void expect_free(AicoreBench& bench) {
    bench.at(kNext, [&bench] {
      bench.launch(
          0, [](AicorePort& port) { return port.load(kData, 8) == 0 ? 0 : 1; }, 2);
    });
    bench.run();
    ASSERT_TRUE(bench.has_ended(0)) << "the core hangs";
    EXPECT_EQ(bench.ended(0).fault, FaultCode::kNone);
    EXPECT_GT(bench.ended(0).when, kNext);
  }
};

TEST_P(EndedProgram, LeavesItsCoreWhenItIsStopped) {
  AicoreBench bench;
  bench.at(0, [&] { bench.launch(0, GetParam().body, 1, 0, 2); });
  bench.at(kStop, [&] { bench.cores.stop(1); });
  SimTime stopped = 0;
  bench.at(kNext / 2, [&] { stopped = bench.has_ended(0) ? bench.ended(0).when : 0; });
  expect_free(bench);
  EXPECT_GE(stopped, kStop) << "its end was not reported";
}

TEST_P(EndedProgram, LeavesItsCoreWhenTheCardIsReset) {
  AicoreBench bench;
  bench.at(0, [&] { bench.launch(0, GetParam().body, 1, 0, 2); });
  bench.at(kStop, [&] { bench.cores.function_reset(0); });
  expect_free(bench);
}

TEST_P(EndedProgram, LeavesItsCoreWhenTheNextBlockComesRightBehindAReset) {
  AicoreBench bench;
  bench.at(0, [&] { bench.launch(0, GetParam().body, 1, 0, 2); });
  bench.at(kStop, [&] {
    bench.cores.function_reset(0);
    bench.launch(
        0, [](AicorePort&) { return 0; }, 3);
  });
  expect_free(bench);
}

// Of one core nothing is seen on another: exceptions are counted by the thread they all share.
TEST_P(EndedProgram, IsAloneWithItsExceptions) {
  AicoreBench bench;
  int beside = 1;
  bench.at(0, [&] { bench.launch(0, GetParam().body, 1, 0, 2); });
  bench.at(0, [&] {
    bench.launch(
        1,
        [&beside](AicorePort& port) {
          beside = 0;
          for (int i = 0; i < 2'000; ++i) {
            beside += std::uncaught_exceptions() + (std::current_exception() != nullptr ? 1 : 0);
            port.load(kData + 64 * static_cast<std::uint64_t>(i), 8);
          }
          return 0;
        },
        2, 0, 1);
  });
  bench.at(kStop, [&] { bench.cores.stop(1); });
  bench.run();
  ASSERT_TRUE(bench.has_ended(1));
  EXPECT_EQ(bench.ended(1).fault, FaultCode::kNone);
  EXPECT_EQ(beside, 0);
}

INSTANTIATE_TEST_SUITE_P(Aicore, EndedProgram, testing::ValuesIn(kPrograms),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(AicoreProgram, ThatThrowsOutOfADestructorIsATrap) {
  struct Thrower {
    ~Thrower() { fail(); }
    static void fail() { throw std::runtime_error("a kernel's own"); }
  };
  AicoreBench bench;
  const auto end = bench.run_one([](AicorePort& port) {
    port.scalar(1);
    const Thrower thrower;
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kKernelTrap);
}

TEST(AicoreProgram, ThatWaitsInADestructorForAFlagThatNothingRaisesIsAtFault) {
  struct Late {
    explicit Late(AicorePort& on) : port(on) {}
    ~Late() {
      port.wait_flag(Pipe::kMte3, Pipe::kScalar, 0);
      port.wait_flag(Pipe::kMte3, Pipe::kScalar, 1);
    }
    AicorePort& port;
  };
  AicoreBench bench;
  const auto end = bench.run_one([](AicorePort& port) {
    { const Late late(port); }
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kFlagDeadlock);
}

}  // namespace
}  // namespace npu::test
