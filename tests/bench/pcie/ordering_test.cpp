// SPDX-License-Identifier: Apache-2.0
// The ordering table of PCIe (Base 4.0, 2.4.1, table 2-39, without relaxed ordering and ID based
// ordering): for every pair of posted request, non-posted request and completion whether the later
// one may pass the earlier one. In both directions, below a root port and below a switch, with the
// later one at every instant around the earlier one. Where the table leaves the choice there is
// nothing to test but that both arrive.
#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

// A card below a root port and one below a switch.
struct Place {
  const char* name;
  model::SystemConfig (*config)();
  Bdf card;
};

class Ordering : public testing::TestWithParam<Place> {
 protected:
  PcieBench bench_{GetParam().config()};
  FakeChip& chip() { return bench_.chip(); }
  std::uint64_t registers() const { return bench_.bar(0, GetParam().card); }
  std::uint64_t memory() const { return bench_.bar(2, GetParam().card); }
  void start() {
    bench_.enable_bus_master(GetParam().card);
    bench_.wait(2_us);
  }
  // Calls `later` once for each of 0, 1, ... ns after `earlier`.
  template <class Earlier, class Later>
  void at_every_instant(unsigned instants, Earlier earlier, Later later) {
    bench_.run([&] {
      start();
      for (unsigned i = 0; i < instants; ++i) {
        earlier(i);
        bench_.wait(Picoseconds(1000) * i);
        later(i);
        bench_.wait(8_us);
      }
    });
  }
  // The posted write number i of the card, visible late: a second one would be visible before it.
  void post_slowly(unsigned i) {
    bench_.memory.latency_at[kBuffer] = 900_ns;
    chip().write(kBuffer, {static_cast<unsigned char>(i + 1), 0, 0, 0, 0, 0, 0, 0});
  }
};

INSTANTIATE_TEST_SUITE_P(Places, Ordering,
                         testing::Values(Place{"RootPort", one_card, Bdf{1, 0, 0}},
                                         Place{"Switch", two_bridges, Bdf{3, 0, 0}}),
                         [](const auto& place) { return std::string(place.param.name); });

// --- towards the host ------------------------------------------------------------------------

TEST_P(Ordering, UpstreamPostedDoesNotPassPosted) {
  at_every_instant(
      60, [&](unsigned i) { post_slowly(i); }, [&](unsigned) { chip().write(kBuffer + 64, {1}); });
  ASSERT_EQ(bench_.memory.writes.size(), 120U);
  for (std::size_t i = 0; i < 120; ++i) {
    EXPECT_EQ(bench_.memory.writes[i].address, kBuffer + 64 * (i % 2)) << i;
  }
}

TEST_P(Ordering, UpstreamNonPostedDoesNotPassPosted) {
  at_every_instant(
      60, [&](unsigned i) { post_slowly(i); }, [&](unsigned) { chip().read(kBuffer, 8); });
  ASSERT_EQ(chip().answers.size(), 60U);
  for (unsigned i = 0; i < 60; ++i) EXPECT_EQ(chip().answers[i].data[0], i + 1) << i;
}

// The card posts at the moment at which it answers, from registers and from memory.
TEST_P(Ordering, UpstreamCompletionDoesNotPassPosted) {
  std::vector<std::size_t> visible;
  unsigned posted = 0;
  chip().on_answer = [&] { post_slowly(posted++); };
  bench_.run([&] {
    start();
    for (const auto address : {registers(), memory()}) {
      bench_.read(address);
      visible.push_back(bench_.memory.writes.size());
    }
  });
  EXPECT_EQ(visible, (std::vector<std::size_t>{1, 2}));
}

// The write at every nanosecond of the read's way.
TEST_P(Ordering, UpstreamCompletionDoesNotPassPostedOfAnyTimeBeforeIt) {
  bool posted = false;
  bool posted_before = false;
  unsigned met = 0;
  chip().on_answer = [&] { posted_before = posted; };
  bench_.run([&] {
    start();
    for (unsigned i = 0; i < 700; ++i) {
      bench_.memory.writes.clear();
      posted = false;
      sc_core::sc_spawn([&, i] {
        bench_.wait(Picoseconds(1000) * i);
        posted = true;
        chip().write(kBuffer, {1});
      });
      bench_.read(registers());
      if (posted_before) ++met;
      EXPECT_TRUE(!posted_before || bench_.memory.writes.size() == 1) << i;
      bench_.wait(4_us);
    }
  });
  EXPECT_GT(met, 30U) << "the write never came first";
}

TEST_P(Ordering, UpstreamPostedPassesNonPosted) {
  bench_.memory.latency_at[kBuffer] = 6_us;
  std::size_t answered = 1;
  bench_.run([&] {
    start();
    chip().read(kBuffer, 8);
    chip().write(kBuffer + 64, {1});
    bench_.wait(2_us);
    EXPECT_EQ(bench_.memory.writes.size(), 1U);
    answered = chip().answers.size();
  });
  EXPECT_EQ(answered, 0U);
}

TEST_P(Ordering, UpstreamCompletionPassesNonPosted) {
  bench_.memory.latency_at[kBuffer] = 6_us;
  std::size_t answered = 1;
  bench_.run([&] {
    start();
    chip().values[0] = 7;
    chip().read(kBuffer, 8);
    EXPECT_EQ(bench_.read(registers()), 7U);
    answered = chip().answers.size();
  });
  EXPECT_EQ(answered, 0U);
}

// --- towards the card ------------------------------------------------------------------------

TEST_P(Ordering, DownstreamPostedDoesNotPassPosted) {
  at_every_instant(
      40, [&](unsigned i) { bench_.write(memory(), i, 8); },
      [&](unsigned i) { bench_.write(registers(), i); });
  ASSERT_EQ(chip().memory_writes.size(), 40U);
  ASSERT_EQ(chip().register_writes.size(), 40U);
  for (unsigned i = 0; i < 40; ++i) {
    EXPECT_LE(chip().memory_writes[i].when, chip().register_writes[i].when) << i;
  }
}

TEST_P(Ordering, DownstreamNonPostedDoesNotPassPosted) {
  std::vector<std::uint64_t> seen;
  at_every_instant(
      40, [&](unsigned i) { bench_.write(registers() + 8, i + 1); },
      [&](unsigned) { seen.push_back(bench_.read(registers() + 8)); });
  for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(seen.at(i), i + 1) << i;
}

// The host rings and then writes its memory; whoever reads the new value there has been rung.
TEST_P(Ordering, DownstreamCompletionDoesNotPassPosted) {
  unsigned met = 0;
  bench_.run([&] {
    start();
    for (unsigned i = 0; i < 600; i += 3) {
      bench_.memory.bytes[0] = std::byte{0};
      const std::size_t before = chip().register_writes.size();
      chip().answers.clear();
      chip().read(kBuffer, 8);
      bench_.wait(Picoseconds(1000) * i);
      bench_.write(registers(), 1);
      bench_.memory.bytes[0] = std::byte{1};
      while (chip().answers.empty()) bench_.wait(1_ns);
      if (chip().answers[0].data[0] == 1) {
        ++met;
        EXPECT_GT(chip().register_writes.size(), before) << i;
      }
      bench_.wait(4_us);
    }
  });
  EXPECT_GT(met, 20U);
}

TEST_P(Ordering, DownstreamPostedPassesNonPosted) {
  std::uint64_t answered = 0;
  bench_.run([&] {
    start();
    sc_core::sc_spawn([&] {
      bench_.read(memory());  // 200 ns in the card
      answered = model::sim_now();
    });
    bench_.wait(1_ns);
    bench_.write(registers(), 5);
  });
  ASSERT_EQ(chip().register_writes.size(), 1U);
  EXPECT_LT(chip().register_writes[0].when + 200'000, answered);
}

TEST_P(Ordering, DownstreamCompletionPassesNonPosted) {
  std::uint64_t answered = 0;
  bench_.run([&] {
    start();
    chip().read(kBuffer, 8);
    bench_.wait(270_ns);
    bench_.read(memory());
    answered = model::sim_now();
  });
  ASSERT_EQ(chip().answers.size(), 1U);
  EXPECT_LT(chip().answers[0].when, answered);
}

// --- among the ports of the root complex -----------------------------------------------------

// A card writes host memory and then its neighbour, which reads that memory as soon as it sees it.
TEST(OrderingOfPeers, PostedToAPeerDoesNotPassPostedToTheHost) {
  PcieBench bench(two_bridges());
  bench.memory.latency_at[kBuffer] = 5_us;
  const Bdf first{3, 0, 0}, second{5, 0, 0};
  bench.run([&] {
    bench.enable_bus_master(first);
    bench.chips[0]->write(kBuffer, {1});
    bench.chips[0]->write(bench.bar(2, second), {2, 0, 0, 0});
    bench.wait(20_us);
  });
  ASSERT_EQ(bench.memory.writes.size(), 1U);
  ASSERT_EQ(bench.chips[1]->memory_writes.size(), 1U);
  EXPECT_GT(bench.chips[1]->memory_writes[0].when, bench.memory.writes[0].when);
}

// The same with the neighbour reading a flag of the first card.
TEST(OrderingOfPeers, CompletionForAPeerDoesNotPassPostedToTheHost) {
  PcieBench bench(two_bridges());
  bench.memory.latency_at[kBuffer] = 5_us;
  const Bdf first{3, 0, 0}, second{5, 0, 0};
  bench.run([&] {
    bench.enable_bus_master(first);
    bench.enable_bus_master(second);
    bench.chips[0]->write(kBuffer, {1});
    bench.chips[1]->read(bench.bar(2, first), 8);
    bench.wait(20_us);
  });
  ASSERT_EQ(bench.chips[1]->answers.size(), 1U);
  ASSERT_EQ(bench.memory.writes.size(), 1U);
  EXPECT_GT(bench.chips[1]->answers[0].when, bench.memory.writes[0].when);
}

}  // namespace
}  // namespace npu::test
