// SPDX-License-Identifier: Apache-2.0
// Who sees whose writes when (runtime.md A1, on coherence).
#include "tests/bench/aicpu/aicpu_bench.hpp"

namespace npu::test {
namespace {

using model::Writer;

// Loads a word, waits, while `writer` writes it, and loads it again.
std::uint32_t seen_after(Writer writer, bool snoops_dma, bool invalidate) {
  auto config = aicpu_config();
  config.snoops_dma = snoops_dma;
  AicpuBench bench(config);
  bench.at(10'000 * kNs, [&] { bench.poke(writer, kDataAt, 5); });
  std::uint32_t seen = 9;
  bench.run_program([&](AicpuPort& port) {
    EXPECT_EQ(port.load(kDataAt, 4), 0U);
    port.compute(20'000);
    if (invalidate) port.invalidate(kDataAt, 4);
    seen = static_cast<std::uint32_t>(port.load(kDataAt, 4));
    return 0;
  });
  return seen;
}

TEST(Coherence, what_an_ai_core_has_published_is_seen) {
  EXPECT_EQ(seen_after(Writer::kAiCore, false, false), 5U);
}

TEST(Coherence, what_dma_wrote_is_not_seen_before_the_line_is_invalidated) {
  EXPECT_EQ(seen_after(Writer::kDma, false, false), 0U);
}

TEST(Coherence, what_dma_wrote_is_seen_after_the_line_is_invalidated) {
  EXPECT_EQ(seen_after(Writer::kDma, false, true), 5U);
}

TEST(Coherence, what_dma_wrote_is_seen_at_once_where_dma_is_snooped) {
  EXPECT_EQ(seen_after(Writer::kDma, true, false), 5U);
}

TEST(Coherence, a_launch_begins_with_an_empty_cache) {
  AicpuBench bench;
  std::uint64_t seen = 9;
  const Program look = [&](AicpuPort& port) {
    seen = port.load(kDataAt, 4);
    return 0;
  };
  bench.run_program(look);
  bench.poke(Writer::kDma, kDataAt, 5);
  bench.run_program(look);
  EXPECT_EQ(seen, 5U);
}

TEST(Coherence, a_core_hits_the_line_it_has_stored_to) {
  AicpuBench bench;
  bench.run_program([&](AicpuPort& port) {
    const std::array<std::uint64_t, 8> line{1, 2, 3};
    port.write(kDataAt, line.data(), sizeof line);  // a whole line: cached unread
    EXPECT_EQ(elapsed(port, [&] { EXPECT_EQ(port.load(kDataAt + 8, 8), 2U); }), 41U);
    port.store(kDataAt + 8, 4, 7);
    EXPECT_EQ(elapsed(port, [&] { EXPECT_EQ(port.load(kDataAt + 8, 8), 7U); }), 3U);
    return 0;
  });
  EXPECT_EQ(bench.peek(kDataAt + 8), 7U);
}

// --- what AI Cores write is in memory at once and in the caches kSnoop later -------------------

constexpr std::uint64_t kSnoop = 500, kMiss = kMemoryLatency / kNs + 3;

model::AicpuProgramConfig snooping() {
  auto config = aicpu_config();
  config.snoop = 500_ns;
  return config;
}
void until(AicpuPort& port, std::uint64_t ns) {
  port.compute(static_cast<unsigned>(ns - port.system_counter() - 1));
}

TEST(Coherence, a_line_is_the_old_one_until_an_ai_core_s_write_has_come_to_the_cache) {
  AicpuBench bench(snooping());
  bench.at(20'000 * kNs, [&] { bench.poke(Writer::kAiCore, kDataAt, 5); });
  bench.run_program([](AicpuPort& port) {
    port.load(kDataAt, 4);
    until(port, 20'000 + kSnoop - 4);
    EXPECT_EQ(elapsed(port, [&] { EXPECT_EQ(port.load(kDataAt, 4), 0U); }), 3U);
    EXPECT_EQ(elapsed(port, [&] { EXPECT_EQ(port.load(kDataAt, 4), 5U); }), kMiss);
    return 0;
  });
}

TEST(Coherence, a_line_that_is_fetched_when_an_ai_core_writes_it_is_the_old_one_as_long) {
  AicpuBench bench(snooping());
  bench.at(20'050 * kNs, [&] { bench.poke(Writer::kAiCore, kDataAt, 5); });
  bench.run_program([](AicpuPort& port) {
    until(port, 20'000);
    EXPECT_EQ(elapsed(port, [&] { EXPECT_EQ(port.load(kDataAt, 4), 0U); }), kMiss);
    until(port, 20'050 + kSnoop - 4);
    EXPECT_EQ(elapsed(port, [&] { EXPECT_EQ(port.load(kDataAt, 4), 0U); }), 3U);
    EXPECT_EQ(elapsed(port, [&] { EXPECT_EQ(port.load(kDataAt, 4), 5U); }), kMiss);
    return 0;
  });
}

TEST(Coherence, a_store_of_another_aicpu_while_a_line_is_fetched_is_in_it) {
  AicpuBench bench(snooping());
  bench.at(20'050 * kNs, [&] { bench.poke(Writer::kAicpu, kDataAt, 5); });
  bench.run_program([](AicpuPort& port) {
    until(port, 20'000);
    EXPECT_EQ(elapsed(port, [&] { EXPECT_EQ(port.load(kDataAt, 4), 5U); }), kMiss);
    return 0;
  });
}

using Access = std::uint64_t (*)(AicpuPort&);

// An AI Core writes a line, 100 ns later another AICPU drops it; 300 ns after the write follows
// what the program does with it: gives how long that takes and the value, turn by turn.
std::vector<std::pair<std::uint64_t, std::uint64_t>> waited(const std::vector<Access>& accesses,
                                                            bool held) {
  AicpuBench bench(snooping());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found(accesses.size());
  for (std::uint64_t i = 0; i < accesses.size(); ++i) {
    const SimTime when = (20'000 + i * 5'000) * kNs;
    const std::uint64_t line = kDataAt + i * 1024;
    bench.at(when, [&bench, line] { bench.poke(Writer::kAiCore, line, 5); });
    bench.at(when + 100 * kNs, [&bench, line] { bench.poke(Writer::kAicpu, line + 8, 1); });
  }
  bench.run_program([&](AicpuPort& port) {
    for (std::uint64_t i = 0; i < accesses.size(); ++i) {
      if (held) port.load(kDataAt + i * 1024, 4);
      until(port, 20'300 + i * 5'000);
      found[i].first = elapsed(port, [&] { found[i].second = accesses[i](port); });
    }
    return 0;
  });
  return found;
}

class LinesInFlight : public testing::TestWithParam<bool> {};

TEST_P(LinesInFlight, are_waited_for_by_requests_for_them) {
  const auto found = waited(
      {[](AicpuPort& port) { return port.load(kDataAt, 4); },
       [](AicpuPort& port) { return port.fetch_add(kDataAt + 1024, 4, 1); },
       [](AicpuPort& port) { return port.invalidate(kDataAt + 2048 - 64, 192), std::uint64_t{0}; },
       [](AicpuPort& port) { return port.load(kDataAt + 3072 + 64, 4); }},
      GetParam());
  const decltype(found) expected{{200 + kMiss, 5}, {200 + 35, 5}, {200 + 3 * 2, 0}, {kMiss, 0}};
  EXPECT_EQ(found, expected);
}

INSTANTIATE_TEST_SUITE_P(held_before_or_not, LinesInFlight, testing::Bool());

TEST(Coherence, additions_of_four_threads_are_all_counted) {
  AicpuBench bench;
  for (unsigned core = 0; core < 4; ++core) {
    bench.start(core, [](AicpuPort& port) {
      for (unsigned i = 0; i < 500; ++i) port.fetch_add(kDataAt, 4, 1);
      return 0;
    });
  }
  bench.run();
  EXPECT_EQ(bench.done.size(), 4U);
  EXPECT_EQ(bench.peek(kDataAt), 2000U);
}

TEST(Coherence, one_of_four_threads_wins_an_exchange) {
  AicpuBench bench;
  unsigned winners = 0;
  for (unsigned core = 0; core < 4; ++core) {
    bench.start(
        core,
        [&](AicpuPort& port) {
          if (port.compare_exchange(kDataAt, 8, 0, port.thread() + 1) == 0) ++winners;
          return 0;
        },
        1, core, 4);
  }
  bench.run();
  EXPECT_EQ(winners, 1U);
  EXPECT_NE(bench.peek(kDataAt), 0U);
}

}  // namespace
}  // namespace npu::test
