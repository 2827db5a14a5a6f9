// SPDX-License-Identifier: Apache-2.0
// Who sees whose writes when (source-facts.md A1, "Coherence").
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

TEST(Coherence, a_store_of_another_aicpu_is_seen_at_its_time) {
  AicpuBench bench;
  std::uint64_t before = 9, after = 9;
  bench.start(0, [&](AicpuPort& port) {
    port.load(kDataAt, 8);
    port.compute(20'000 - static_cast<unsigned>(port.system_counter()));
    port.store(kDataAt, 8, 0x1122'3344'5566);
    return 0;
  });
  bench.start(1, [&](AicpuPort& port) {
    port.load(kDataAt, 8);
    port.compute(19'990 - static_cast<unsigned>(port.system_counter()));
    before = port.load(kDataAt, 8);
    port.compute(20);
    after = port.load(kDataAt, 8);
    return 0;
  });
  bench.run();
  EXPECT_EQ(before, 0U);
  EXPECT_EQ(after, 0x1122'3344'5566U);
}

TEST(Coherence, a_core_hits_the_line_it_has_stored_to) {
  AicpuBench bench;
  bench.run_program([&](AicpuPort& port) {
    const std::array<std::uint64_t, 8> line{1, 2, 3};
    port.write(kDataAt, line.data(), sizeof line);  // a whole line: cached unread
    EXPECT_EQ(elapsed(port, [&] { EXPECT_EQ(port.load(kDataAt + 8, 8), 2U); }), 3U);
    port.store(kDataAt + 8, 4, 7);
    EXPECT_EQ(elapsed(port, [&] { EXPECT_EQ(port.load(kDataAt + 8, 8), 7U); }), 3U);
    return 0;
  });
  EXPECT_EQ(bench.peek(kDataAt + 8), 7U);
}

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
