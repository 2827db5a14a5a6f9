// SPDX-License-Identifier: Apache-2.0
// Stores of a host with host.cpu.order=weak: every order that comes is legal, and not the
// program's.
#include <algorithm>
#include <random>

#include "tests/bench/host/host_bench.hpp"

namespace npu::test {
namespace {

constexpr platform::Bdf kWeakCard{1, 0, 0};
constexpr std::uint64_t kBar = 0x8000'0000;
constexpr Bytes kDoorbell = 0x1010;

model::HostCpuConfig weak(std::uint64_t seed) {
  auto config = cpu_config();
  config.order = model::HostOrder::kWeak;
  config.order_seed = seed;
  return config;
}

struct WeakHost : HostBench {
  explicit WeakHost(std::uint64_t seed = 1) : HostBench(weak(seed)) {
    platform.triggers([](platform::Bdf, unsigned, Bytes offset) {
      return offset == kDoorbell ? std::string_view("BELL") : std::string_view();
    });
  }
  std::unique_ptr<platform::MmioRegion> map(platform::Caching caching) {
    return *platform.map_bar(kWeakCard, 0, 0, 32_KiB, caching);
  }
  std::unique_ptr<platform::DmaMemory> dma() {
    return *platform.allocate_dma(kWeakCard, 4_KiB, 4_KiB, platform::DmaDirection::kBidirectional);
  }
  // What the device reads at `offset` now.
  std::uint64_t read(const platform::DmaMemory& from, Bytes offset) {
    const auto found = memory.reach({kRequester}, from.bus().value + offset, 8, false, 0);
    std::uint64_t value = 0;
    std::memcpy(&value, found.data, 8);
    return value;
  }
  // The bytes of the BAR as the writes that have arrived leave them.
  std::map<std::uint64_t, unsigned char> image() const {
    std::map<std::uint64_t, unsigned char> bytes;
    for (const auto& write : far_end.writes) {
      for (std::size_t i = 0; i < write.bytes.size(); ++i) {
        bytes[write.address - kBar + i] = write.bytes[i];
      }
    }
    return bytes;
  }
  std::vector<std::uint64_t> arrived() const {
    std::vector<std::uint64_t> offsets;
    for (const auto& write : far_end.writes) offsets.push_back(write.address - kBar);
    return offsets;
  }
};

TEST(WeakOrder, CombinedStoresLeaveInAnotherOrderThanTheProgramsAndAllOfThem) {
  WeakHost bench;
  bench.run([&] {
    const auto region = bench.map(platform::Caching::kWriteCombining);
    for (unsigned line = 0; line < 32; ++line) region->write64(line * 64, line);
    bench.cpus.charge(5_us);
    bench.cpus.synchronise();
    EXPECT_EQ(bench.far_end.writes.size(), 32U) << "they leave in finite time, without a barrier";
  });
  const auto arrived = bench.arrived();
  EXPECT_FALSE(std::is_sorted(arrived.begin(), arrived.end()));
}

TEST(WeakOrder, ABarrierLetsAllLeaveThatIsBeforeIt) {
  WeakHost bench;
  bench.run([&] {
    const auto combining = bench.map(platform::Caching::kWriteCombining);
    const auto uncached = bench.map(platform::Caching::kUncached);
    for (unsigned round = 1; round <= 20; ++round) {
      combining->write64(0x40, round);
      combining->write64(0x80, round);
      bench.platform.write_barrier();
      uncached->write32(kDoorbell, round);
      const auto image = bench.image();
      ASSERT_EQ(image.at(0x40), round);
      ASSERT_EQ(image.at(0x80), round);
    }
  });
  EXPECT_EQ(bench.platform.overtaken()->count(), 0U);
}

TEST(WeakOrder, StoresToRegistersKeepTheirOrder) {
  WeakHost bench;
  bench.run([&] {
    const auto region = bench.map(platform::Caching::kUncached);
    for (unsigned i = 0; i < 100; ++i) region->write32(4 * i, i);
    bench.platform.write_barrier();
  });
  const auto arrived = bench.arrived();
  EXPECT_EQ(arrived.size(), 100U);
  EXPECT_TRUE(std::is_sorted(arrived.begin(), arrived.end()));
}

TEST(WeakOrder, ALoadIsBehindTheStoresToTheRegistersOfItsFunction) {
  on_bench<WeakHost>([](WeakHost& bench) {
    const auto region = bench.map(platform::Caching::kUncached);
    for (unsigned i = 1; i <= 50; ++i) {
      region->write32(8 * i, i);
      region->read32(0);
      ASSERT_EQ(bench.far_end.writes.size(), i);
    }
  });
}

TEST(WeakOrder, ADoorbellThatOvertakesAStoreIsNamedWithIt) {
  WeakHost bench;
  bench.run([&] {
    const auto combining = bench.map(platform::Caching::kWriteCombining);
    const auto uncached = bench.map(platform::Caching::kUncached);
    for (unsigned round = 0; round < 40; ++round) {
      combining->write64(0x40, round);
      combining->write64(0x48, round);
      uncached->write32(kDoorbell, round);
      uncached->read32(0);
      bench.platform.write_barrier();
    }
  });
  const auto& overtaken = *bench.platform.overtaken();
  EXPECT_GT(overtaken.count(), 10U);
  ASSERT_EQ(overtaken.told().size(), model::OvertakenStores::kTold);
  EXPECT_NE(overtaken.told()[0].find("us: BELL (01:00.0 BAR0+0x1010) overtook 2 stores, the first "
                                     "to BAR0+0x40: no write barrier between"),
            std::string::npos)
      << overtaken.told()[0];
}

TEST(WeakOrder, ARegisterThatStartsNothingOvertakesNobodysData) {
  WeakHost bench;
  bench.run([&] {
    const auto combining = bench.map(platform::Caching::kWriteCombining);
    const auto uncached = bench.map(platform::Caching::kUncached);
    for (unsigned round = 0; round < 40; ++round) {
      combining->write64(0x40, round);
      uncached->write32(kDoorbell + 4, round);
    }
  });
  EXPECT_EQ(bench.platform.overtaken()->count(), 0U);
}

// A lock that both have had would order them.
TEST(WeakOrder, WhatAnotherCoreHasStoredLeavesFirst) {
  WeakHost bench;
  bench.run([&] {
    const auto combining = bench.map(platform::Caching::kWriteCombining);
    const auto uncached = bench.map(platform::Caching::kUncached);
    for (unsigned round = 1; round <= 20; ++round) {
      combining->write64(0x40, round);
      bench.cpus.join(*bench.cpus.spawn("other", [&] { uncached->write32(kDoorbell, round); }));
      ASSERT_EQ(bench.image().at(0x40), round);
    }
  });
  EXPECT_EQ(bench.platform.overtaken()->count(), 0U);
}

// Combined and uncached ones of all widths to few lines: what is left is what the program says.
TEST(WeakOrder, TheSameBytesKeepTheirOrderInRandomPrograms) {
  WeakHost bench(7);
  std::mt19937_64 random(7);
  std::map<std::uint64_t, unsigned char> expected;
  bench.run([&] {
    const auto combining = bench.map(platform::Caching::kWriteCombining);
    const auto uncached = bench.map(platform::Caching::kUncached);
    for (unsigned step = 0; step < 5'000; ++step) {
      const bool wide = random() % 2 == 0;
      const Bytes width = wide ? 8 : 4, offset = random() % (256 / width) * width;
      const std::uint64_t value = random();
      auto& region = random() % 4 == 0 ? *uncached : *combining;
      wide ? region.write64(offset, value)
           : region.write32(offset, static_cast<std::uint32_t>(value));
      for (Bytes i = 0; i < width; ++i) {
        expected[offset + i] = static_cast<unsigned char>(value >> 8 * i);
      }
      if (random() % 50 == 0) combining->read32(random() % 64 * 4);
      if (random() % 20 == 0) bench.platform.write_barrier();
      if (random() % 20 == 0) bench.clock().relax({}, Instant::never());
      if (random() % 300 != 0) continue;
      bench.platform.write_barrier();
      ASSERT_TRUE(bench.image() == expected) << "step " << step;
    }
    bench.platform.write_barrier();
  });
  EXPECT_EQ(bench.image(), expected);
}

TEST(WeakOrder, StoresToMemoryAreSeenByTheDeviceInAnyOrderUntilABarrier) {
  WeakHost bench;
  unsigned seen = 0;
  bench.run([&] {
    const auto memory = bench.dma();
    for (Bytes at = 0; at < 4_KiB; at += 8) memory->store<std::uint64_t>(at, at + 1);
    for (Bytes at = 0; at < 4_KiB; at += 8) seen += bench.read(*memory, at) == at + 1 ? 1U : 0U;
    bench.platform.write_barrier();
    for (Bytes at = 0; at < 4_KiB; at += 8) ASSERT_EQ(bench.read(*memory, at), at + 1);
  });
  EXPECT_GT(seen, 150U);
  EXPECT_LT(seen, 362U);
}

TEST(WeakOrder, WhatTheDeviceHasSeenOnceItSeesAgain) {
  on_bench<WeakHost>([](WeakHost& bench) {
    const auto memory = bench.dma();
    for (Bytes at = 0; at < 4_KiB; at += 8) memory->store<std::uint64_t>(at, 1);
    for (Bytes at = 0; at < 4_KiB; at += 8) {
      const auto before = bench.read(*memory, at);
      ASSERT_GE(bench.read(*memory, at), before);
    }
  });
}

TEST(WeakOrder, StoresToMemoryAreSeenInFiniteTime) {
  on_bench<WeakHost>([](WeakHost& bench) {
    const auto memory = bench.dma();
    memory->store<std::uint64_t>(64, 7);
    bench.clock().relax({}, Instant::never());
    bench.cpus.charge(5_us);
    bench.cpus.synchronise();
    EXPECT_EQ(bench.read(*memory, 64), 7U);
  });
}

TEST(WeakOrder, WhatTheDeviceWritesBothSee) {
  on_bench<WeakHost>([](WeakHost& bench) {
    const auto memory = bench.dma();
    memory->store<std::uint64_t>(0, 1);
    const auto found = bench.memory.reach({kRequester}, memory->bus().value, 4, true, 0);
    const std::uint32_t value = 0x55;
    std::memcpy(found.data, &value, 4);
    bench.memory.written(found.data, 4, 0);
    EXPECT_EQ(bench.read(*memory, 0), 0x55U);
    EXPECT_EQ(memory->load<std::uint64_t>(0), 0x55U);
  });
}

TEST(WeakOrder, ADoorbellThatOvertakesAStoreToMemoryIsNamedWhenTheDeviceReadsIt) {
  WeakHost bench;
  bench.run([&] {
    const auto memory = bench.dma();
    const auto uncached = bench.map(platform::Caching::kUncached);
    for (Bytes at = 0; at < 4_KiB; at += 8) memory->store<std::uint64_t>(at, 1);
    uncached->write32(kDoorbell, 1);
    uncached->read32(0);
    EXPECT_EQ(bench.platform.overtaken()->count(), 0U) << "nobody has read it";
    for (Bytes at = 0; at < 4_KiB; at += 8) bench.read(*memory, at);
    const auto stale = bench.platform.overtaken()->count();
    EXPECT_GT(stale, 150U);
    for (Bytes at = 0; at < 4_KiB; at += 8) bench.read(*memory, at);
    EXPECT_EQ(bench.platform.overtaken()->count(), stale) << "each counts once";
  });
  const auto told = bench.platform.overtaken()->told();
  ASSERT_FALSE(told.empty());
  EXPECT_NE(told[0].find("overtook 1 store to host memory at bus address 0x"), std::string::npos);
}

// It was rung before the entry behind it was stored.
TEST(WeakOrder, AStoreBehindTheDoorbellIsNotOvertakenByIt) {
  WeakHost bench;
  bench.run([&] {
    const auto memory = bench.dma();
    const auto uncached = bench.map(platform::Caching::kUncached);
    uncached->write32(kDoorbell, 1);
    uncached->read32(0);
    for (Bytes at = 0; at < 4_KiB; at += 8) memory->store<std::uint64_t>(at, 1);
    for (Bytes at = 0; at < 4_KiB; at += 8) bench.read(*memory, at);
  });
  EXPECT_EQ(bench.platform.overtaken()->count(), 0U);
}

}  // namespace
}  // namespace npu::test
