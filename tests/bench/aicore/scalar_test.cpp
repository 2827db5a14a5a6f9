// SPDX-License-Identifier: Apache-2.0
// The scalar unit: its data cache that nobody keeps coherent, UB, registers.
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kHit = 2, kDrop = 3, kMiss = 100;  // clocks

std::uint64_t taken(AicorePort& port, const std::function<void()>& work) {
  const auto begin = clocks(port);
  work();
  return clocks(port) - begin - kRegister;
}

using AicoreScalar = OnBench<AicoreBench>;

TEST_F(AicoreScalar, PaysForMemoryOncePerLine) {
  bench.run_one([&](AicorePort& port) {
    EXPECT_EQ(taken(port, [&] { port.load(kData, 8); }), kMiss);
    EXPECT_EQ(taken(port, [&] { port.load(kData + 56, 8); }), kHit);
    EXPECT_EQ(taken(port, [&] { port.store(kData + 8, 4, 1); }), kHit);
    EXPECT_EQ(taken(port, [&] { port.load(kData + 64, 1); }), kMiss);
    return 0;
  });
  for (const auto& request : bench.data_requests()) EXPECT_EQ(request.length, 64U);
}

TEST_F(AicoreScalar, SeesWhatOthersWroteWhenItHasDroppedTheLine) {
  std::vector<std::uint64_t> seen;
  bench.run_one([&](AicorePort& port) {
    seen.push_back(port.load(kData, 4));
    bench.memory.store<std::uint32_t>(kData, 5);
    seen.push_back(port.load(kData, 4));
    port.clean_invalidate(kData + 60);
    seen.push_back(port.load(kData, 4));
    return 0;
  });
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 0, 5}));
}

TEST_F(AicoreScalar, PublishesALineByDcciAndKnowsBehindABarrier) {
  std::uint32_t stored = 1, published = 0;
  bench.run_one([&](AicorePort& port) {
    port.store(kData, 4, 9);
    port.scalar(1000);
    port.load(kData + 4096, 4);
    stored = bench.memory.load<std::uint32_t>(kData);
    EXPECT_EQ(taken(port, [&] { port.clean_invalidate(kData); }), kDrop);
    // The line has been on its way for two looks at the time.
    EXPECT_EQ(taken(port, [&] { port.memory_barrier(); }), kMiss - 2 * kRegister);
    published = bench.memory.load<std::uint32_t>(kData);
    return 0;
  });
  EXPECT_EQ(stored, 0U);
  EXPECT_EQ(published, 9U);
}

TEST_F(AicoreScalar, ReadsALineAgainOnlyWhenItHasBeenWrittenBack) {
  std::uint64_t value = 0;
  bench.run_one([&](AicorePort& port) {
    port.store(kData, 4, 9);
    port.clean_invalidate(kData);
    value = port.load(kData, 4);
    return 0;
  });
  EXPECT_EQ(value, 9U);
}

// hardware.md H32: two cores that write different words of one line lose data.
TEST_F(AicoreScalar, LosesWhatAnotherCoreWroteIntoTheSameLine) {
  for (unsigned core = 0; core < 2; ++core) {
    bench.at(0, [this, core] {
      bench.launch(core, [core](AicorePort& port) {
        port.load(kData, 4);  // both have the line as it was
        port.scalar(5000);
        port.store(kData + 4 * core, 4, core + 1);
        port.scalar(5000 * core);  // core 1 writes the line back last
        port.clean_invalidate(kData);
        port.memory_barrier();
        return 0;
      });
    });
  }
  bench.run();
  EXPECT_EQ(bench.memory.load<std::uint32_t>(kData), 0U);
  EXPECT_EQ(bench.memory.load<std::uint32_t>(kData + 4), 2U);
}

TEST_F(AicoreScalar, KeepsDataOfBothCoresInLinesOfTheirOwn) {
  for (unsigned core = 0; core < 2; ++core) {
    bench.at(0, [this, core] {
      bench.launch(core, [core](AicorePort& port) {
        port.store(kData + 64 * core, 4, core + 1);
        port.clean_invalidate_all();
        port.memory_barrier();
        return 0;
      });
    });
  }
  bench.run();
  EXPECT_EQ(bench.memory.load<std::uint32_t>(kData), 1U);
  EXPECT_EQ(bench.memory.load<std::uint32_t>(kData + 64), 2U);
}

// 16 lines of 2 ways: 8 sets of 512 bytes apart.
TEST_F(AicoreScalar, WritesTheLeastRecentlyUsedLineBackToMakeRoom) {
  bench.run_one([&](AicorePort& port) {
    port.store(kData, 4, 1);
    port.store(kData + 512, 4, 2);
    port.load(kData, 4);
    port.load(kData + 1024, 4);  // in place of the second
    port.memory_barrier();
    EXPECT_EQ(taken(port, [&] { port.load(kData, 4); }), kHit);
    return 0;
  });
  EXPECT_EQ(bench.memory.load<std::uint32_t>(kData), 0U);
  EXPECT_EQ(bench.memory.load<std::uint32_t>(kData + 512), 2U);
}

TEST_F(AicoreScalar, FaultsOnAMisalignedAccess) {
  const auto end = bench.run_one([&](AicorePort& port) {
    port.load(kData + 2, 4);
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kInstruction);
  EXPECT_EQ(end.address, kData + 2);
}

TEST_F(AicoreScalar, FaultsIfALineIsWrittenBackToWhereNothingIs) {
  const auto end = bench.run_one([&](AicorePort& port) {
    port.store(kData, 4, 1);
    bench.memory.end = kData;
    port.clean_invalidate(kData);
    port.memory_barrier();
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kTranslation);
  EXPECT_EQ(end.address, kData);
}

TEST_F(AicoreScalar, KeepsNothingInItsCacheFromBlockToBlock) {
  std::vector<std::uint64_t> seen;
  const auto body = [&](AicorePort& port) {
    seen.push_back(port.load(kData, 4));
    return 0;
  };
  bench.at(0, [&] { bench.launch(0, body); });
  bench.at(900'000 * kClock, [&] {
    bench.memory.store<std::uint32_t>(kData, 3);
    bench.launch(0, body);
  });
  bench.run();
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 3}));
}

TEST_F(AicoreScalar, ShowsCondInItsWindowAfterItsWay) {
  bench.cores.write(0, abi::FastPathEnable::kOffset, abi::FastPathEnable::kOpen);
  SimTime written = 0;
  std::uint32_t before = 1;
  bench.run_one([&](AicorePort& port) {
    port.data_main_base();
    written = model::sim_now();
    bench.at(written + 137 * kClock - 1, [&] { before = bench.cores.read(0, abi::Cond::kOffset); });
    port.set_cond(0x1234);
    port.scalar(1000);
    return 0;
  });
  EXPECT_EQ(bench.cond_changes, (std::vector<SimTime>{written + (7 + 130) * kClock}));
  EXPECT_EQ(before, 0U);
  EXPECT_EQ(bench.cores.read(0, abi::Cond::kOffset), 0x1234U);
}

TEST_F(AicoreScalar, HasAWindowThatAnswersOnlyWhileItIsOpen) {
  auto& cores = bench.cores;
  EXPECT_EQ(cores.read(0, abi::DataMainBase::kOffset), 0xFFFF'FFFFU);
  cores.write(0, abi::DataMainBase::kOffset, 7);
  cores.write(0, abi::FastPathEnable::kOffset, abi::FastPathEnable::kOpen);
  EXPECT_EQ(cores.read(0, abi::DataMainBase::kOffset), 0U);
  cores.write(0, abi::DataMainBase::kOffset, 8);
  EXPECT_EQ(cores.read(0, abi::DataMainBase::kOffset), 8U);
  EXPECT_EQ(cores.read(0, 0x44), 0xFFFF'FFFFU);
  EXPECT_EQ(cores.read(99, abi::FastPathEnable::kOffset), 0xFFFF'FFFFU);
}

TEST_F(AicoreScalar, ReadsDataMainBaseWithItsDoorbellAndFinds0AfterALaunch) {
  bench.cores.write(0, abi::FastPathEnable::kOffset, abi::FastPathEnable::kOpen);
  bench.cores.write(0, abi::DataMainBase::kOffset, 5);
  std::vector<std::uint64_t> seen;
  bench.run_one([&](AicorePort& port) {
    seen.push_back(port.data_main_base());
    bench.cores.write(0, abi::DataMainBase::kOffset, 6);
    bench.cores.write(0, abi::DataMainDoorbell::kOffset, 7);
    seen.push_back(port.data_main_base());
    return 0;
  });
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, std::uint64_t{7} << 32 | 6}));
}

TEST_F(AicoreScalar, CountsBusyClocksOfPipesInItsPmu) {
  auto& cores = bench.cores;
  cores.write(0, abi::FastPathEnable::kOffset, abi::FastPathEnable::kOpen);
  cores.write(0, abi::PmuCounter0Index::kOffset, 0x0A);  // cube
  bench.run_one([&](AicorePort& port) {
    platform::Mmad product;
    product.m = product.k = product.n = 16;
    port.issue(product);
    port.pipe_barrier(Pipe::kAll);
    cores.write(0, abi::PmuControl::kOffset, abi::PmuControl::kEnable);
    for (int i = 0; i < 3; ++i) port.issue(product);
    port.pipe_barrier(Pipe::kAll);
    return 0;
  });
  EXPECT_EQ(cores.read(0, abi::PmuCounter0::kOffset), 6U + 3U);
  EXPECT_EQ(bench.cores.statistics(0).instructions[2], 4U);
}

TEST_F(AicoreScalar, PaysForBarriersWithoutAnythingToWaitFor) {
  bench.run_one([&](AicorePort& port) {
    EXPECT_EQ(taken(port, [&] { port.pipe_barrier(Pipe::kAll); }), kHandOver);
    EXPECT_EQ(taken(port, [&] { port.memory_barrier(); }), kHandOver);
    return 0;
  });
}

}  // namespace
}  // namespace npu::test
