// SPDX-License-Identifier: Apache-2.0
// A poll loop that skips ahead must be indistinguishable from one that does not.
#include "tests/bench/host/host_bench.hpp"

namespace npu::test {
namespace {

struct PollResult {
  std::uint64_t seen_at;
  std::int64_t busy;
};

// Polls a word that a device changes at `change` (0: never) until then or `deadline`.
PollResult poll(HostBench& bench, bool skip, std::uint64_t start_charge, std::uint64_t change,
                std::uint64_t deadline) {
  PollResult result{};
  bench.run([&] {
    auto& host = static_cast<platform::Platform&>(bench.platform);
    const auto mapping =
        bench.memory.map(kRequester, 4096, 4096, platform::DmaDirection::kBidirectional, 0);
    volatile auto* word = reinterpret_cast<std::uint64_t*>(mapping.memory.data);
    if (change != 0) {
      bench.at(change, [&bench, mapping, word] {
        *word = 1;
        bench.memory.written(mapping.memory.data, 8, 0);
      });
    }
    bench.cpus.charge(Picoseconds(static_cast<std::int64_t>(start_charge)));
    const auto limit = model::instant(deadline);
    const ConstByteSpan watched = skip ? ConstByteSpan(mapping.memory.data, 8) : ConstByteSpan();
    while (*word == 0 && host.clock().now() < limit) host.clock().relax(watched, limit);
    result = {bench.cpus.local_now(), bench.cpus.current().usage.busy.count()};
  });
  return result;
}

constexpr std::uint64_t kRound = 37'000;

// Each case once skipping and once naive, in processes of their own: the numbers are closed forms.
struct Case {
  bool skip;
  std::uint64_t start_charge, change, deadline, expected;
};

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return (info.param.skip ? "Skip" : "Naive") + std::to_string(info.index);
}

class Poll : public testing::TestWithParam<Case> {};

TEST_P(Poll, SeesTheChangeAtTheFirstRoundBehindIt) {
  HostBench bench;
  const auto& c = GetParam();
  const auto result = poll(bench, c.skip, c.start_charge, c.change, c.deadline);
  EXPECT_EQ(result.seen_at, c.expected);
  EXPECT_EQ(result.busy, static_cast<std::int64_t>(c.expected));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool skip : {true, false}) {
    for (const std::uint64_t charge : {0ULL, 1ULL, 12'345ULL}) {
      const auto round = [&](std::uint64_t k) { return charge + k * kRound; };
      all.push_back({skip, charge, round(3), 10'000'000, round(3)});          // on a round
      all.push_back({skip, charge, round(3) + 1, 10'000'000, round(4)});      // just after one
      all.push_back({skip, charge, round(200) - 1, 10'000'000, round(200)});  // just before one
      all.push_back({skip, charge, 0, round(5) - 1, round(5)});               // deadline
      all.push_back({skip, charge, 0, round(5) + 1, round(6)});
      all.push_back({skip, charge, round(9), round(2), round(2)});  // deadline before change
    }
    all.push_back({skip, 12'345, 500, 10'000'000, 12'345 + kRound});  // while still computing
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(SkippingAndNaive, Poll, testing::ValuesIn(cases()), case_name);

TEST(PollTrace, OneRoundCostsOneRound) {
  HostBench bench;
  bench.run([&] {
    auto& clock = static_cast<platform::Platform&>(bench.platform).clock();
    const auto before = clock.now();
    clock.relax({}, Instant::never());
    EXPECT_EQ((clock.now() - before).count(), static_cast<std::int64_t>(kRound));
  });
}

}  // namespace
}  // namespace npu::test
