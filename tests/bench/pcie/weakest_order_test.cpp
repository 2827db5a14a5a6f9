// SPDX-License-Identifier: Apache-2.0
// What devices send to the host with order.rule=weakest: data passes data of its transfer, nothing
// passes what it announces, and a read sees a line at its begin or at its end.
#include <algorithm>

#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

constexpr Bdf kOrderedCard{1, 0, 0};
constexpr unsigned kTransfers = 50, kPieces = 4;

struct WeakestPcie : PcieBench {
  WeakestPcie() { simulation.weakest.emplace(1); }
  // In each transfer kPieces writes of data, relaxed or not, and one that announces them.
  void transfer(bool relaxed) {
    run([&] {
      enable_bus_master(kOrderedCard);
      wait(2_us);
      for (unsigned i = 1; i <= kTransfers; ++i) {
        for (unsigned piece = 0; piece < kPieces; ++piece) {
          chip().write(kBuffer + 64 * piece, {1}, relaxed ? i : 0);
        }
        chip().write(kBuffer + 64 * kPieces, {1});
      }
    });
    ASSERT_EQ(memory.writes.size(), kTransfers * (kPieces + 1));
  }
  std::uint64_t place(std::size_t write) const {
    return (memory.writes[write].address - kBuffer) / 64;
  }
};

TEST(WeakestPcie, PlainWritesKeepTheirOrder) {
  WeakestPcie bench;
  bench.transfer(false);
  for (std::size_t i = 0; i < bench.memory.writes.size(); ++i) {
    ASSERT_EQ(bench.place(i), i % (kPieces + 1)) << i;
  }
}

TEST(WeakestPcie, DataPassesDataOfItsTransferAndIsThereBeforeItsAnnouncement) {
  WeakestPcie bench;
  bench.transfer(true);
  unsigned other_orders = 0;
  for (std::size_t first = 0; first < bench.memory.writes.size(); first += kPieces + 1) {
    std::vector<std::uint64_t> places;
    for (std::size_t i = 0; i <= kPieces; ++i) places.push_back(bench.place(first + i));
    EXPECT_EQ(places.back(), kPieces);
    other_orders += std::is_sorted(places.begin(), places.end()) ? 0 : 1;
    std::sort(places.begin(), places.end());
    EXPECT_EQ(places, (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
  }
  EXPECT_GT(other_orders, kTransfers / 4);
}

// Of four lines that the host changes meanwhile.
TEST(WeakestPcie, AReadSeesSomeLinesAtItsBeginAndOthersAtItsEnd) {
  WeakestPcie bench;
  unsigned mixed = 0;
  bench.run([&] {
    bench.enable_bus_master(kOrderedCard);
    bench.memory.latency_at[kBuffer] = 1_us;
    for (unsigned i = 0; i < kTransfers; ++i) {
      std::fill_n(bench.memory.bytes.begin(), 256, std::byte{1});
      bench.chip().answers.clear();
      bench.chip().read(kBuffer, 256);
      bench.wait(1_us);
      std::fill_n(bench.memory.bytes.begin(), 256, std::byte{2});
      while (bench.chip().answers.empty()) bench.wait(1_ns);
      const auto& data = bench.chip().answers[0].data;
      mixed += std::count(data.begin(), data.end(), 1) % 256 != 0 ? 1 : 0;
      bench.wait(4_us);
    }
  });
  EXPECT_GT(mixed, kTransfers / 2);
}

}  // namespace
}  // namespace npu::test
