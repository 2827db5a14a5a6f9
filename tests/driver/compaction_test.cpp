// SPDX-License-Identifier: Apache-2.0
// Compaction on the fake card (requirements.md M2): contents, addresses, faults, and who waits.
#include "npu/abi/registers.hpp"
#include "tests/driver/space_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

// 1 + 2 + 1 + 52 GiB; the first and the second are free again. In between lies a block of 1 GiB.
class CompactionTest : public SpaceTest {
 protected:
  void SetUp() override {
    SpaceTest::SetUp();
    fragment({});
  }
  void fragment(const MemoryOptions& options) {
    ASSERT_THAT(device->free(memory), IsOk());
    const auto first = device->allocate(1_GiB);
    const auto second = device->allocate(2_GiB);
    const auto third = device->allocate(1_GiB, options);
    const auto fourth = must(device->allocate(52_GiB));
    memory = third->address;
    tail = fourth.address;
    write_marks(memory);
    write_marks(tail);
    ASSERT_THAT(device->free(first->address), IsOk());
    ASSERT_THAT(device->free(second->address), IsOk());
  }
  void reopen(const DeviceOptions& options, const MemoryOptions& third = {}) {
    host.reset();
    open(options);
    host = std::move(*device->allocate_host(4096));
    fragment(third);
  }
  void write_marks(DeviceAddress at) {
    for (Bytes i = 0; i < 16; ++i) EXPECT_THAT(write_word(stream, at + i * 67_MiB, i + 1), IsOk());
  }
  void expect_marks(DeviceAddress at) {
    for (Bytes i = 0; i < 15; ++i) {
      EXPECT_EQ(read_word(stream, at + i * 67_MiB), static_cast<std::int64_t>(i + 1));
    }
  }
  static Picoseconds sum(const CompactionReport& r) {
    return r.plan + r.quiesce + r.copy + r.remap + r.invalidate + r.resume;
  }

  DeviceAddress tail;
};

TEST_F(CompactionTest, WithoutItTheRequestFailsAndSaysWhatIsFree) {
  DeviceOptions options;
  options.compact_on_demand = false;
  reopen(options);
  EXPECT_THAT(device->allocate(3_GiB),
              FailsWith(ErrorCode::kOutOfMemory,
                        "3221225472 bytes of device memory requested, 3221225472 free, largest "
                        "free block 2147483648"));
  EXPECT_EQ(device->compaction_statistics().runs, 0U);
}

TEST_F(CompactionTest, WithItTheRequestSucceedsAndNothingElseHasChanged) {
  const auto block = must(device->allocate(3_GiB));
  EXPECT_EQ(poke(space(), block.address + 2_GiB, 9), 0);
  expect_marks(memory);
  expect_marks(tail);
  EXPECT_EQ(device->memory_statistics().free, 0U);
}

TEST_F(CompactionTest, ReportsWhatItMovedAndPartsThatAddUpToThePause) {
  ASSERT_THAT(device->allocate(3_GiB), IsOk());
  const auto statistics = device->compaction_statistics();
  EXPECT_EQ(statistics.runs, 1U);
  EXPECT_EQ(statistics.failures, 0U);
  EXPECT_TRUE(statistics.last.success);
  EXPECT_EQ(statistics.last.blocks, 1U);
  EXPECT_EQ(statistics.last.moved, 1_GiB);
  EXPECT_GT(statistics.last.copy, Picoseconds());
  EXPECT_GT(statistics.last.invalidate, Picoseconds());
  EXPECT_EQ(sum(statistics.last), statistics.last.pause);
  EXPECT_EQ(statistics.pause, statistics.last.pause);
}

TEST_F(CompactionTest, TracesItsPartsAsStages) {
  fake.tracer().listen(true);
  ASSERT_THAT(device->compact(3_GiB), IsOk());
  const auto copy = fake.tracer().track("driver0.compaction.copy");
  Picoseconds total;
  unsigned copies = 0;
  for (const auto& event : fake.tracer().events) {
    if (event.activity != platform::Activity::kStage) continue;
    total += event.end - event.begin;
    if (event.track != copy) continue;
    ++copies;
    EXPECT_EQ(event.bytes, 1_GiB);
  }
  EXPECT_EQ(copies, 1U);
  EXPECT_EQ(total, device->compaction_statistics().pause);
}

TEST_F(CompactionTest, APinnedBlockIsNotMoved) {
  MemoryOptions pinned;
  pinned.pinned = true;
  reopen({}, pinned);
  EXPECT_THAT(device->allocate(3_GiB), FailsWith(ErrorCode::kOutOfMemory, "compaction: "));
  EXPECT_EQ(device->compaction_statistics().failures, 1U);
  EXPECT_EQ(device->memory_statistics().free, 3_GiB);
  expect_marks(memory);
}

TEST_F(CompactionTest, NothingIsDoneIfTooLittleIsFreeOrEnoughIsInOnePiece) {
  EXPECT_THAT(device->allocate(4_GiB), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_THAT(device->compact(4_GiB), FailsWith(ErrorCode::kOutOfMemory, "too little is free"));
  const auto enough = must(device->compact(2_GiB));
  EXPECT_TRUE(enough.success);
  EXPECT_EQ(enough.pause, Picoseconds());
  EXPECT_THAT(device->compact(0), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_EQ(device->compaction_statistics().runs, 0U);
}

// --- faults

class CopyFault : public CompactionTest, public testing::WithParamInterface<unsigned> {};

TEST_P(CopyFault, LeavesEveryBlockWhereItWas) {
  card.behaviour.failing_copy = GetParam();
  EXPECT_THAT(device->allocate(3_GiB), FailsWith(ErrorCode::kOutOfMemory, "device fault"));
  EXPECT_EQ(device->memory_statistics().free, 3_GiB);
  EXPECT_EQ(device->compaction_statistics().failures, 1U);
  EXPECT_EQ(device->compaction_statistics().last.moved, 0U);
  expect_marks(memory);
  expect_marks(tail);
}

TEST_P(CopyFault, CanBeRepeatedWhenTheCardIsWell) {
  card.behaviour.failing_copy = GetParam();
  EXPECT_THAT(device->allocate(3_GiB), FailsWith(ErrorCode::kOutOfMemory));
  ASSERT_TRUE(device->take_fault()->has_value());
  EXPECT_THAT(device->allocate(3_GiB), IsOk());
  expect_marks(memory);
}

INSTANTIATE_TEST_SUITE_P(CopyCommands, CopyFault, testing::Values(1, 2, 33, 64));

TEST_F(CompactionTest, ACardThatDoesNotGetIdleEndsItAtTheTimeout) {
  DeviceOptions options;
  options.compaction_timeout = 1_ms;
  reopen(options);
  card.behaviour.completion_paused = true;
  const auto stuck = submit();
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(device->allocate(3_GiB), FailsWith(ErrorCode::kOutOfMemory, "timeout"));
  EXPECT_LT(fake.scheduler.now() - begin, 2_ms);
  EXPECT_EQ(device->memory_statistics().free, 3_GiB);
  card.behaviour.completion_paused = false;
  card.complete_next(stream.value);
  EXPECT_THAT(device->wait(*stuck, WaitPolicy::kPolling, in(1_ms)), IsOk());
  EXPECT_THAT(device->allocate(3_GiB), IsOk());
}

TEST_F(CompactionTest, ACardThatVanishesEndsIt) {
  card.behaviour.command_latency = [](const abi::DmaEntry&) { return 100_us; };
  fake.scheduler.at(in(50_us), [&] { card.remove(); });
  EXPECT_FALSE(device->allocate(3_GiB).has_value());
  EXPECT_TRUE(device->lost());
}

// --- concurrency

TEST_F(CompactionTest, RunningWorkIsWaitedForAndItsTicketsStayValid) {
  card.behaviour.command_latency = [](const abi::DmaEntry& entry) {
    return entry.size() == 8 ? 300_us : 2_us;
  };
  host->store<std::uint64_t>(0, 1234);
  const auto ticket =
      device->submit(stream, DmaCommand::host_to_device(host->bus(), memory + 64, 8));
  ASSERT_THAT(device->allocate(3_GiB), IsOk());
  EXPECT_GT(device->compaction_statistics().last.quiesce, 250_us);
  EXPECT_THAT(device->wait(*ticket, WaitPolicy::kAdaptive, in(1_ms)), IsOk());
  EXPECT_EQ(read_word(stream, memory + 64), 1234);
}

TEST_F(CompactionTest, SubmissionsWaitAtTheGateAndThenWork) {
  card.behaviour.command_latency = [](const abi::DmaEntry&) { return 20_us; };
  Instant returned;
  auto submitter = fake.tasks().spawn("submitter", [&] {
    fake.scheduler.advance(30_us);
    host->store<std::uint64_t>(0, 4321);
    const auto command = DmaCommand::host_to_device(host->bus(), memory + 64, 8);
    const auto ticket = device->submit(stream, command);
    returned = fake.scheduler.now();
    ASSERT_THAT(ticket, IsOk());
    EXPECT_THAT(device->wait(*ticket, WaitPolicy::kPolling, in(1_s)), IsOk());
  });
  const auto begin = fake.scheduler.now();
  ASSERT_THAT(device->allocate(3_GiB), IsOk());
  (*submitter)->join();
  EXPECT_GE(returned, begin + device->compaction_statistics().pause);
  EXPECT_EQ(read_word(stream, memory + 64), 4321);
}

TEST_F(CompactionTest, ASubmissionGivesUpAtTheGateAfterItsTimeout) {
  DeviceOptions options;
  options.submit_timeout = 50_us;
  reopen(options);
  card.behaviour.command_latency = [](const abi::DmaEntry&) { return 200_us; };
  auto submitter = fake.tasks().spawn("submitter", [&] {
    fake.scheduler.advance(30_us);
    EXPECT_THAT(submit(), FailsWith(ErrorCode::kTimeout, "held up for 50 us"));
  });
  ASSERT_THAT(device->allocate(3_GiB), IsOk());
  (*submitter)->join();
}

TEST_F(CompactionTest, TwoAllocationsAtATimeBothGetWhatTheyCan) {
  ASSERT_THAT(device->free(tail), IsOk());
  ASSERT_THAT(device->allocate(51_GiB), IsOk());
  ASSERT_THAT(device->memory_statistics().free, 4_GiB);
  auto other = fake.tasks().spawn("other", [&] { EXPECT_THAT(device->allocate(1_GiB), IsOk()); });
  EXPECT_THAT(device->allocate(3_GiB), IsOk());
  (*other)->join();
  EXPECT_EQ(device->memory_statistics().free, 0U);
  expect_marks(memory);
}

// --- page tables

TEST_F(CompactionTest, OneInvalidationPerSpaceWhateverWasMoved) {
  auto other = device->create_address_space();
  ASSERT_THAT(device->free(tail), IsOk());
  // 2 MiB of either space, the second freed again, over and over: holes everywhere.
  std::vector<DeviceAddress> holes;
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(device->allocate(2_MiB), IsOk());
    ASSERT_THAT((*other)->allocate(2_MiB), IsOk());
    holes.push_back(device->allocate(2_MiB)->address);
  }
  for (;;) {
    const auto largest = device->memory_statistics().largest_free_block;
    if (largest == 0) break;
    ASSERT_THAT(device->allocate(largest), IsOk());
  }
  for (const auto at : holes) ASSERT_THAT(device->free(at), IsOk());
  fake.log_bus = true;
  const auto report = must(device->compact(100_MiB));
  EXPECT_EQ(report.blocks, 33U);  // every third of 50 pages is a hole
  unsigned invalidations = 0;
  for (const auto& access : fake.bus_log) {
    invalidations += access.bar == 0 && access.kind == test::BusAccess::Kind::kWrite &&
                     access.offset == abi::MmuInvalidate::kOffset;
  }
  EXPECT_EQ(invalidations, 2U);
}

TEST_F(CompactionTest, DriverStreamsAreGivenBack) {
  ASSERT_THAT(device->allocate(3_GiB), IsOk());
  for (unsigned i = 1; i < 256; ++i) ASSERT_THAT(device->create_stream(), IsOk());
  EXPECT_THAT(device->create_stream(), FailsWith(ErrorCode::kOutOfResources));
}

TEST_F(CompactionTest, WithoutAStreamLeftItSaysSo) {
  for (unsigned i = 1; i < 256; ++i) ASSERT_THAT(device->create_stream(), IsOk());
  EXPECT_THAT(device->allocate(3_GiB), FailsWith(ErrorCode::kOutOfMemory, "all 256 streams"));
}

}  // namespace
}  // namespace npu::driver
