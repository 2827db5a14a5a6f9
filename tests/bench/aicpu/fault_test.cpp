// SPDX-License-Identifier: Apache-2.0
// Programs that end badly, are stopped, or vanish with a reset.
#include "tests/bench/aicpu/aicpu_bench.hpp"
#include "tests/support/folders.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kForEver = ~std::uint64_t{0};

class Fault : public testing::Test {
 protected:
  void expect_fault(const Program& program, FaultCode code, std::uint64_t address, bool write) {
    const auto done = bench.run_program(program);
    EXPECT_EQ(done.fault.code, code);
    EXPECT_EQ(done.fault.address, address);
    EXPECT_EQ(done.fault.write, write);
    // The core is as good as new.
    EXPECT_FALSE(bench.run_program([](AicpuPort&) { return 0; }).fault.failed());
  }
  AicpuBench bench;
};

TEST_F(Fault, ALoadOfWhatIsNotMappedEndsTheBlock) {
  bench.unmapped_from = 4_MiB;
  bool went_on = false;
  expect_fault(
      [&](AicpuPort& port) {
        port.load(4_MiB + 72, 4);
        went_on = true;
        return 0;
      },
      FaultCode::kTranslation, 4_MiB + 72, false);
  EXPECT_FALSE(went_on);
}

TEST_F(Fault, AReadThatMemoryRefusesEndsTheBlock) {
  bench.memory.verdict = [](tlm::tlm_generic_payload& trans) {
    return trans.get_address() == kDataAt ? model::Completion::kForbidden
                                          : model::Completion::kSuccess;
  };
  expect_fault([](AicpuPort& port) { return static_cast<int>(port.load(kDataAt, 4)); },
               FaultCode::kDevicePermission, kDataAt, false);
}

TEST_F(Fault, StoresAndAtomicsToWhatIsNotMappedEndTheBlock) {
  bench.unmapped_from = 4_MiB;
  const Program store = [](AicpuPort& port) {
    port.store(4_MiB, 4, 1);
    return 0;
  };
  expect_fault(store, FaultCode::kTranslation, 4_MiB, true);
  expect_fault([](AicpuPort& port) { return static_cast<int>(port.fetch_add(4_MiB, 4, 1)); },
               FaultCode::kTranslation, 4_MiB, true);
}

TEST_F(Fault, MisalignedAccessesEndTheBlock) {
  expect_fault([](AicpuPort& port) { return static_cast<int>(port.load(kDataAt + 2, 4)); },
               FaultCode::kInvalidSize, kDataAt + 2, false);
}

TEST_F(Fault, AProgramThatFailsIsAFaultOfItsImage) {
  expect_fault([](AicpuPort&) { return 3; }, FaultCode::kKernelResult, 3, false);
}

TEST_F(Fault, WhatIsNoImageIsNotRun) {
  const std::uint64_t at = 0x20'0000;
  void (*const spoilers[])(abi::ImageHeader&) = {
      [](abi::ImageHeader& h) { h.magic ^= 1; },
      [](abi::ImageHeader& h) { h.version = 9; },
      [](abi::ImageHeader& h) { h.kind = static_cast<std::uint16_t>(abi::ImageKind::kAiCore); },
      [](abi::ImageHeader& h) { h.size = 0; },
      [](abi::ImageHeader& h) { h.size = abi::kMaxImageSize + 1; },
      [](abi::ImageHeader& h) { h.digest[5] ^= 1; },
  };
  for (auto* const spoil : spoilers) {
    bench.upload(binary_dir() + "/tests/bench/aicpu/aicpu_call.npu", at);
    abi::ImageHeader header;
    std::memcpy(&header, bench.memory.bytes.data() + at, sizeof header);
    spoil(header);
    std::memcpy(bench.memory.bytes.data() + at, &header, sizeof header);
    bench.start_image(0, at, 0);
    bench.run();
    EXPECT_EQ(bench.done.back().fault.code, FaultCode::kInvalidImage);
    EXPECT_EQ(bench.done.back().fault.address, at);
  }
  bench.start_image(0, at + 8, 0);
  bench.run();
  EXPECT_EQ(bench.done.back().fault.code, FaultCode::kInvalidImage);
  EXPECT_EQ(bench.done.size(), 7U);
}

class Stop : public testing::Test {
 protected:
  // Starts `program`, stops it at 10 us, and gives the time of its end.
  SimTime stopped_at(const Program& program) {
    bench.start(0, program, 77);
    bench.at(10'000 * kNs, [this] { bench.programs.stop(77); });
    bench.run();
    EXPECT_EQ(bench.done.size(), 1U);
    EXPECT_FALSE(bench.done.back().fault.failed());
    return bench.done.back().when;
  }
  AicpuBench bench;
};

TEST_F(Stop, ASleepingPollLoopEndsAtOnce) {
  EXPECT_EQ(stopped_at([](AicpuPort& port) {
              for (;;) {
                port.load_register(0, 0x4C8);
                port.poll_again(kForEver);
              }
              return 0;
            }),
            10'500 * kNs);
}

// 4 * 10^9 instructions take seconds.
constexpr unsigned kLong = 4'000'000'000;

TEST_F(Stop, WhatAProgramComputesEndsAtOnce) {
  EXPECT_EQ(stopped_at([](AicpuPort& port) {
              port.compute(kLong);
              port.load(kDataAt, 4);
              return 1;
            }),
            10'500 * kNs);
}

TEST_F(Stop, WhatAProgramComputesLastEndsAtOnce) {
  EXPECT_EQ(stopped_at([](AicpuPort& port) {
              port.compute(kLong);
              return 1;
            }),
            10'500 * kNs);
}

TEST_F(Stop, AResetEndsWhatAProgramComputes) {
  bench.start(0, [](AicpuPort& port) {
    port.compute(kLong);
    return 1;
  });
  bench.at(10'000 * kNs, [this] {
    bench.programs.function_reset(0);
    bench.start(0, [](AicpuPort&) { return 0; });
  });
  bench.run();
  ASSERT_EQ(bench.done.size(), 1U) << "the core is free for the next one";
  EXPECT_FALSE(bench.done.back().fault.failed());
}

TEST_F(Stop, ABusyProgramEndsAtItsNextAccess) {
  const SimTime ended = stopped_at([](AicpuPort& port) {
    for (;;) port.store(kDataAt, 4, 1);
    return 0;
  });
  EXPECT_GE(ended, 10'500 * kNs);
  EXPECT_LE(ended, 10'550 * kNs);  // and its posted stores
}

TEST_F(Stop, BlocksOfOtherLaunchesGoOn) {
  bench.start(
      1,
      [](AicpuPort& port) {
        port.compute(100'000);
        port.load(kDataAt, 4);
        return 0;
      },
      78);
  bench.start(
      0,
      [](AicpuPort& port) {
        while (port.poll_again(kForEver)) port.load(kDataAt, 4);
        return 0;
      },
      77);
  bench.at(10'000 * kNs, [this] { bench.programs.stop(77); });
  bench.run();
  ASSERT_EQ(bench.done.size(), 2U);
  EXPECT_EQ(bench.done[0].core, 0U);
  EXPECT_GT(bench.done[1].when, 100'000 * kNs);
}

TEST_F(Stop, ABlockMayBeStoppedBeforeItRuns) {
  bool ran = false;
  bench.at(0, [&] {
    bench.start(
        0,
        [&](AicpuPort&) {
          ran = true;
          return 0;
        },
        77);
    bench.programs.stop(77);
  });
  bench.run();
  EXPECT_FALSE(ran);
  EXPECT_EQ(bench.done.size(), 1U);
}

TEST_F(Stop, AResetForgetsEverythingAndTheNextBlockRuns) {
  bench.start(0, [](AicpuPort& port) {
    for (;;) port.poll_again(kForEver), port.load_register(0, 0x4C8);
    return 0;
  });
  bench.start(1, [](AicpuPort& port) {
    for (std::uint64_t i = 0;; ++i) port.load(kDataAt + 64 * (i % 1000), 4);
    return 0;
  });
  bench.start(2, [](AicpuPort& port) {
    for (;;) port.store_register(0, 0xA0, 1), port.load(kDataAt, 4);
    return 0;
  });
  std::size_t writes = 0;
  unsigned ran = 0;
  bench.at(10'000 * kNs, [&] {
    bench.programs.function_reset(0);
    writes = bench.windows.writes.size();
    for (unsigned core = 0; core < 3; ++core) {
      bench.start(core, [&](AicpuPort& port) {
        ran += port.load(kDataAt, 4) == 0 ? 1 : 0;
        return 0;
      });
    }
  });
  bench.run();
  EXPECT_EQ(ran, 3U);
  EXPECT_EQ(bench.done.size(), 3U);
  EXPECT_GT(writes, 100U);
  EXPECT_EQ(bench.windows.writes.size(), writes);
}

// Its code lay in caches and in device memory, of which nothing is left.
TEST_F(Stop, AResetForgetsWhatWasLoaded) {
  const auto nothing = [](AicpuPort&) { return 0; };
  const auto reads = [&] {
    const auto before = bench.memory.seen.size();
    EXPECT_FALSE(bench.run_program(nothing).fault.failed());
    return bench.memory.seen.size() - before;
  };
  const auto cold = reads();
  const auto warm = reads();
  bench.programs.function_reset(0);
  EXPECT_EQ(reads(), cold);
  EXPECT_EQ(reads(), warm);

  bench.programs.function_reset(0);
  bench.memory.bytes[kImageAt + sizeof(abi::ImageHeader) + 100] ^= 1;
  EXPECT_EQ(bench.run_program(nothing).fault.code, FaultCode::kInvalidImage);
}

TEST_F(Stop, EachThreadKnowsItsPlaceInTheLaunch) {
  for (unsigned block = 0; block < 3; ++block) {
    bench.start(
        block,
        [block](AicpuPort& port) {
          EXPECT_EQ(port.thread(), block);
          EXPECT_EQ(port.threads(), 3U);
          return 0;
        },
        1, block, 3);
  }
  bench.run();
  EXPECT_EQ(bench.done.size(), 3U);
}

// A program sees the register windows of its function's cores alone, from 0.
TEST(FunctionsWindows, AreThoseOfItsCores) {
  AicpuBench bench(aicpu_config(), 6);
  bench.programs.connect_windows(bench.windows, {{0, 2, 3}, {1, 4, 5}});
  unsigned count = 0;
  std::uint64_t foreign = 0, own = 0;
  Program program = [&](AicpuPort& port) {
    count = port.core_windows();
    port.store_register(1, 8, 7);
    port.store_register(3, 8, 9);  // nobody's
    own = port.load_register(2, 4);
    foreign = port.load_register(3, 4);
    while (port.load_register(2, 4) != 6) port.poll_again(kForEver);
    return 0;
  };
  bench.at(0, [&] {
    for (unsigned i = 0; i < 6; ++i) bench.windows.change(i, 4, i);
    bench.programs.start(0, program_block(kImageAt, reinterpret_cast<std::uint64_t>(&program), 1, 0,
                                          1, model::space_of(1, 0)));
  });
  bench.at(50'000 * kNs, [&] { bench.windows.change(3, 4, 6); });
  bench.at(60'000 * kNs, [&] { bench.windows.change(5, 4, 6); });
  bench.run();
  ASSERT_EQ(bench.done.size(), 1U);
  EXPECT_GT(bench.done.back().when, 60'000 * kNs);
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(own, 5U);
  EXPECT_EQ(foreign, ~std::uint32_t{0});
  ASSERT_EQ(bench.windows.writes.size(), 1U);
  EXPECT_EQ(bench.windows.writes[0].core, 4U);
}

}  // namespace
}  // namespace npu::test
