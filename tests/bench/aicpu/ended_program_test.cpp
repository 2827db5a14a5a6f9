// SPDX-License-Identifier: Apache-2.0
// Programs that are not written to be stopped: whatever they do behind the end of their block, the
// core is free and the next block runs.
#include <stdexcept>

#include "tests/bench/aicpu/aicpu_bench.hpp"

namespace npu::test {
namespace {

constexpr SimTime kStopAt = 50'000 * kNs;  // the program runs by then
constexpr SimTime kNextAt = 1'000'000 * kNs;

int load_always(AicpuPort& port) {
  for (std::uint64_t i = 0;; ++i) port.load(kDataAt + 64 * (i % 1000), 4);
}
void poll_always(AicpuPort& port) {
  do port.load_register(0, 0x4C8);
  while (port.poll_again(~std::uint64_t{0}));
}

// A lock in device memory, and what is said when it is given back.
struct Lock {
  explicit Lock(AicpuPort& on) : port(on) { port.fetch_add(kDataAt, 4, 1); }
  ~Lock() {
    port.fetch_add(kDataAt, 4, ~std::uint64_t{0});
    port.barrier();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  AicpuPort& port;
};
struct Poller {
  explicit Poller(AicpuPort& on) : port(on) {}
  ~Poller() { poll_always(port); }
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  AicpuPort& port;
};

struct EndlessProgram {
  const char* name;
  Program body;
  friend std::ostream& operator<<(std::ostream& out, const EndlessProgram& program) {
    return out << program.name;
  }
};

const EndlessProgram kEndless[] = {
    {"a_lock_that_is_given_back_while_the_stack_unwinds",
     [](AicpuPort& port) {
       const Lock lock(port);
       return load_always(port);
     }},
    {"a_destructor_that_polls_at_the_end_of_its_scope",
     [](AicpuPort& port) {
       { const Poller poller(port); }
       return 0;
     }},
    {"everything_is_caught_and_tried_again",
     [](AicpuPort& port) {
       for (;;) {
         try {
           load_always(port);
         } catch (...) {
         }
       }
       return 0;
     }},
    {"a_loop_of_stores",
     [](AicpuPort& port) {
       for (;;) port.store(kDataAt, 4, 1);
       return 0;
     }},
    {"an_exception_of_its_own_in_a_handler",
     [](AicpuPort& port) -> int {
       try {
         load_always(port);
       } catch (...) {
         throw std::runtime_error("a program's own");
       }
       return 0;
     }},
};

class EndedAicpuProgram : public testing::TestWithParam<EndlessProgram> {
 protected:
  void expect_free() {
    bench_.at(kNextAt, [this] {
      bench_.start(
          0, [](AicpuPort& port) { return port.load(kDataAt, 4) < 3 ? 0 : 1; }, 78);
    });
    bench_.run(5_ms);
    ASSERT_FALSE(bench_.done.empty()) << "the core hangs";
    EXPECT_GT(bench_.done.back().when, kNextAt);
    EXPECT_FALSE(bench_.done.back().fault.failed());
  }
  AicpuBench bench_;
};

TEST_P(EndedAicpuProgram, LeavesItsCoreWhenItIsStopped) {
  bench_.start(0, GetParam().body, 77);
  bench_.at(kStopAt, [this] { bench_.programs.stop(77); });
  expect_free();
  EXPECT_EQ(bench_.done.size(), 2U) << "its end was not reported";
}

TEST_P(EndedAicpuProgram, LeavesItsCoreWhenTheCardIsReset) {
  bench_.start(0, GetParam().body, 77);
  bench_.at(kStopAt, [this] { bench_.programs.function_reset(0); });
  expect_free();
}

TEST_P(EndedAicpuProgram, LeavesItsCoreWhenItsMemoryGoes) {
  bench_.start(0, GetParam().body, 77);
  bench_.at(kStopAt, [this] { bench_.unmapped_from = 0; });
  bench_.at(kStopAt * 2, [this] { bench_.unmapped_from = 4_MiB; });
  bench_.at(kStopAt * 3, [this] { bench_.programs.stop(77); });  // one that looks at registers only
  expect_free();
}

INSTANTIATE_TEST_SUITE_P(Aicpu, EndedAicpuProgram, testing::ValuesIn(kEndless),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace npu::test
