// SPDX-License-Identifier: Apache-2.0
// Parts of an AICPU by themselves: which windows a program has, in what phase it works.
#include "tests/bench/aicpu/aicpu_bench.hpp"

namespace npu::test {
namespace {

struct NoMemory : model::DeviceMemoryPort {
  model::Completion read(model::SpaceId, std::uint64_t, void*, Bytes) override {
    return model::Completion::kNotMapped;
  }
  model::Completion write(model::Writer, model::SpaceId, std::uint64_t, const void*,
                          Bytes) override {
    return model::Completion::kNotMapped;
  }
};

// A card of which the tested part needs nothing but what it shares.
struct SharedAlone : model::AicpuShared {
  using AicpuShared::AicpuShared;
  void request(unsigned, Access, model::SpaceId, std::uint64_t, Bytes, std::uint64_t) override {}
  void caches(unsigned, model::SpaceId, std::uint64_t) override {}
  model::Completion write(unsigned, model::Writer, model::SpaceId, std::uint64_t, const void*,
                          Bytes) override {
    return model::Completion::kSuccess;
  }
  SimTime arrival(model::SpaceId, std::uint64_t, Bytes) const override { return 0; }
  void watch_register(unsigned, unsigned) override {}
  void register_written(unsigned) override {}
  bool goes_later(unsigned, SimTime) const override { return false; }
  void done(unsigned, const model::KernelBlock&, const model::CommandFault&) override {}
};

struct Parts {
  model::Simulation sim;
  model::CoreConfig launch = aicpu_launch();
  model::AicpuProgramConfig config = aicpu_config();
  NoMemory memory;
  SharedAlone shared{sim, launch, config, memory};
  StandInWindows windows{8};
  model::AicpuThread thread{shared, 0};
  model::PollRounds rounds;
  model::AicpuStatistics statistics;
  model::AicpuRegisters registers{shared, thread, rounds, statistics};
  model::PhaseLog phases{thread, sim, 0, statistics};

  Parts() {
    shared.windows = &windows;
    shared.windows_of = {{0, 1}, {6, 4, 2}};
  }
  void begin(unsigned function) {
    model::KernelBlock block;
    block.vmid = model::space_of(function, 1);
    thread.begin(block, false, 0);
  }
};

TEST(AicpuRegisters, AProgramNumbersTheWindowsOfItsFunction) {
  Parts parts;
  parts.begin(1);
  EXPECT_EQ(parts.registers.windows(), 3U);
  EXPECT_EQ(parts.registers.window(0, 0), 6U);
  EXPECT_EQ(parts.registers.window(2, abi::Cond::kOffset), 2U);
  parts.begin(0);
  EXPECT_EQ(parts.registers.windows(), 2U);
  EXPECT_EQ(parts.registers.window(0, 0), 0U);
  parts.begin(2);
  EXPECT_EQ(parts.registers.windows(), 0U) << "a function without any";
}

TEST(AicpuRegisters, WhatIsNoRegisterHasNoWindow) {
  Parts parts;
  parts.begin(0);
  EXPECT_EQ(parts.registers.window(2, 0), std::nullopt);
  EXPECT_EQ(parts.registers.window(0, 2), std::nullopt);
  EXPECT_EQ(parts.registers.window(0, abi::kCoreWindowSize), std::nullopt);
}

TEST(PhaseLog, WorkCountsForThePhaseInWhichItWasDone) {
  using platform::AicpuPhase;
  Parts parts;
  parts.begin(0);
  parts.phases.begin();
  parts.statistics.loads += 1;
  parts.phases.enter(AicpuPhase::kDispatch, 1);
  parts.statistics.loads += 10;
  parts.phases.enter(AicpuPhase::kDispatch, 2);
  parts.statistics.loads += 100;
  parts.phases.end();
  const auto& phases = parts.statistics.phases;
  EXPECT_EQ(phases[static_cast<std::size_t>(AicpuPhase::kIdle)].loads, 1U);
  EXPECT_EQ(phases[static_cast<std::size_t>(AicpuPhase::kDispatch)].loads, 110U);
}

TEST(AicpuThread, TheFirstFaultIsTheBlocks) {
  Parts parts;
  parts.begin(0);
  parts.thread.note_fault({FaultCode::kInvalidImage, 1, 0, false});
  EXPECT_THROW(parts.thread.fault(FaultCode::kKernelTrap, 2, false), model::AicpuThread::Ended);
  EXPECT_EQ(parts.thread.fault().code, FaultCode::kInvalidImage);
  parts.begin(0);
  EXPECT_FALSE(parts.thread.fault().failed());
  parts.thread.stop();
  EXPECT_THROW(parts.thread.check(), model::AicpuThread::Ended);
}

}  // namespace
}  // namespace npu::test
