// SPDX-License-Identifier: Apache-2.0
// Copies by cores, and memory for devices given out and taken back: time by the keys, page by page.
#include "tests/bench/host/host_bench.hpp"

namespace npu::test {
namespace {

// 10 GB/s by one core; 5 GB/s clearing; 140, 190 ns a page given out; 150, 60 taken back, and 700.
constexpr std::uint64_t kClearPage = 819'200;

template <class F>
std::uint64_t time_of(F body) {
  const auto begin = model::sim_now();
  body();
  return model::sim_now() - begin;
}

TEST(HostCopies, TakeTheTimeOfOneCoreAndMoveTheBytes) {
  HostBench bench;
  std::vector<std::byte> from(10'000), to(10'000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7);
  bench.run([&] {
    const auto took = time_of([&] {
      bench.platform.copy({to.data(), to.size()}, {from.data(), from.size()});
      bench.cpus.synchronise();
    });
    EXPECT_EQ(took, 1'000'000U);
    EXPECT_EQ(time_of([&] { bench.platform.copy({to.data(), 0}, {from.data(), 0}); }), 0U);
  });
  EXPECT_EQ(to, from);
}

TEST(HostCopies, OfManyCoresShareTheNode) {
  auto cpu = cpu_config();
  cpu.cores = 32;
  HostBench bench(cpu);
  constexpr std::size_t kCopiers = 16, kSize = 1_MiB;  // a node each for 16 cores
  std::vector<std::vector<std::byte>> memory(2 * kCopiers, std::vector<std::byte>(kSize));
  std::uint64_t end = 0;
  bench.run([&] {
    std::vector<std::shared_ptr<model::HostTask>> tasks;
    for (std::size_t i = 0; i + 1 < kCopiers; ++i) {
      tasks.push_back(bench.cpus.spawn("copier", [&, i] {
        bench.platform.copy({memory[2 * i].data(), kSize}, {memory[2 * i + 1].data(), kSize});
        end = std::max(end, model::sim_now());
      }));
    }
    for (const auto& task : tasks) bench.cpus.join(*task);
  });
  // 15 cores want 150 GB/s in and as much out of a node that moves 100.
  const std::uint64_t bus = 15 * 2 * kSize * 10;
  EXPECT_NEAR(static_cast<double>(end), static_cast<double>(bus), 1'000'000);
}

class GivingOut : public testing::TestWithParam<std::pair<Bytes, std::uint64_t>> {};

TEST_P(GivingOut, CostsByByteAndPageAndTakingBackByPage) {
  const Bytes size = GetParam().first;
  const std::uint64_t pages = GetParam().second;
  HostBench bench;
  bench.run([&] {
    platform::Platform& host = bench.platform;
    std::unique_ptr<platform::DmaMemory> memory;
    const auto given = time_of([&] {
      auto got = host.allocate_dma(platform::Bdf::unpack(kRequester), size, 4_KiB,
                                   platform::DmaDirection::kBidirectional);
      ASSERT_TRUE(got);
      memory = std::move(*got);
      bench.cpus.synchronise();
    });
    // Two calls, of which one asks the function whether it is there.
    const std::uint64_t calls = 2 * 300'000 + FarEnd::kRoundTrip;
    EXPECT_EQ(given, calls + size / 4096 * kClearPage + pages * (140'000 + 190'000));
    const auto taken = time_of([&] {
      memory.reset();
      bench.cpus.synchronise();
    });
    EXPECT_EQ(taken, 300'000 + FarEnd::kRoundTrip + pages * (150'000 + 60'000) + 700'000);
  });
}
INSTANTIATE_TEST_SUITE_P(Sizes, GivingOut,
                         testing::Values(std::pair<Bytes, std::uint64_t>{4_KiB, 1},
                                         std::pair<Bytes, std::uint64_t>{64_KiB, 16},
                                         std::pair<Bytes, std::uint64_t>{2_MiB, 1},
                                         std::pair<Bytes, std::uint64_t>{4_MiB + 8_KiB, 4}),
                         [](const auto& sizes) { return std::to_string(sizes.param.first); });

}  // namespace
}  // namespace npu::test
