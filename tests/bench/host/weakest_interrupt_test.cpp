// SPDX-License-Identifier: Apache-2.0
// Interrupts with order.rule=weakest: late, merged, doubled, never lost.
#include <algorithm>

#include "tests/bench/host/host_bench.hpp"

namespace npu::test {
namespace {

constexpr unsigned kMessages = 40;

struct WeakestInterrupts : HostBench {
  explicit WeakestInterrupts(unsigned seed) { simulation.weakest.emplace(seed); }

  // When handlers of a vector ran, of messages `apart` from each other.
  std::vector<std::uint64_t> handled(std::uint64_t apart) {
    std::vector<std::uint64_t> times;
    run([&] {
      const auto vector = interrupts.open(kRequester, 0);
      vector->handler = [&] { times.push_back(model::sim_now()); };
      for (unsigned i = 0; i < kMessages; ++i) {
        interrupts.message(kRequester, model::Interrupts::kMessageAddress, vector->data, 0);
        last = model::sim_now();
        sc_core::wait(sc_core::sc_time::from_value(apart));
      }
      sc_core::wait(sc_core::sc_time::from_value(100'000'000));
      interrupts.close(kRequester, 0);
    });
    return times;
  }
  std::uint64_t last = 0;  // message
};

TEST(WeakestInterrupts, OfMessagesFarApartEachIsHandledAndSomeTwice) {
  WeakestInterrupts bench(1);
  const auto times = bench.handled(50'000'000);
  EXPECT_GT(times.size(), kMessages);
  EXPECT_LT(times.size(), 2 * kMessages);
}

TEST(WeakestInterrupts, OfMessagesThatAreCloseSomeAreMergedAndTheLastOneIsSeen) {
  WeakestInterrupts bench(2);
  const auto times = bench.handled(1'000'000);
  EXPECT_LT(times.size(), kMessages);
  ASSERT_FALSE(times.empty());
  EXPECT_GT(*std::max_element(times.begin(), times.end()), bench.last);
}

}  // namespace
}  // namespace npu::test
