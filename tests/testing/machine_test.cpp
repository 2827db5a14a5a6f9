// SPDX-License-Identifier: Apache-2.0
// Machines for tests: time, accesses and faults are exact, and what is wrong is said.
#include "npu/testing/machine_test.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"

namespace npu::testkit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RawCard : public MachineTest {
 protected:
  using MachineTest::MachineTest;
  void SetUp() override {
    platform().pci().write16(card(), abi::pci::kCommand, abi::pci::kCommandMemory);
    auto mapped = platform().map_bar(card(), 0, 0, 4_KiB, platform::Caching::kUncached);
    ASSERT_THAT(mapped, Succeeds());
    bar0_ = std::move(*mapped);
  }
  std::uint32_t chip_id() { return platform::read_register<abi::ChipId>(*bar0_).raw; }

  static constexpr std::uint32_t kChipId = 0xD11019E5;
  static constexpr std::uint32_t kNothing = 0xFFFFFFFF;
  std::unique_ptr<platform::MmioRegion> bar0_;
};

TEST_F(RawCard, TimePassesAsItIsTold) {
  const auto begin = now();
  run_for(1_ps);
  EXPECT_EQ(now(), begin + 1_ps);
  run_until(begin + 3_ms);
  EXPECT_EQ(now(), begin + 3_ms);
  run_until(begin);
  EXPECT_EQ(now(), begin + 3_ms) << "time does not go back";
}

TEST_F(RawCard, TheFirstAndTheLastTestBeginAtTheSameTime) {
  EXPECT_EQ(elapsed([&] { chip_id(); }), elapsed([&] { chip_id(); }));
  EXPECT_LT(now(), Instant(1_ms)) << "no other test has been here before";
}

// 10 ns, both ways through root complex (25 ns), 24 and 28 bytes on 16 lanes of generation 4 at
// 65/2048 ns each, 80 ns of propagation, 25 ns of ingress and 20 ns in the endpoint.
TEST_F(RawCard, ARegisterReadTakesItsRoundTripToThePicosecond) {
  const std::int64_t wires = (24 * 65'000 + 2047) / 2048 + (28 * 65'000 + 2047) / 2048;
  EXPECT_EQ(elapsed([&] { EXPECT_EQ(chip_id(), kChipId); }),
            10_ns + 2 * 25_ns + Picoseconds(wires) + 2 * 80_ns + 25_ns + 20_ns);
}

TEST_F(RawCard, AccessesAreNamedAndTimed) {
  const auto begin = now();
  const auto made = accesses([&] {
    chip_id();
    platform().write_barrier();
    platform().pci().read16(card(), abi::pci::kStatus);
  });
  EXPECT_THAT(made, AllOf(MmioReads(1), ReadsOf("CHIP_ID", 1), WriteBarriers(1),
                          ReadsOf("STATUS", 1), ConfigAccesses(1), MmioWrites(0)));
  ASSERT_EQ(made.list().size(), 3U);
  EXPECT_EQ(made.list()[0].begin, begin);
  EXPECT_EQ(made.list()[0].value, kChipId);
  EXPECT_EQ(made.list()[1].begin, made.list()[0].end);
  EXPECT_EQ(made.elapsed(), now() - begin);
}

TEST_F(RawCard, ACallInsideAnotherCountsInBoth) {
  Accesses inner;
  const auto outer = accesses([&] {
    chip_id();
    inner = accesses([&] { chip_id(); });
  });
  EXPECT_THAT(outer, MmioReads(2));
  EXPECT_THAT(inner, MmioReads(1));
}

TEST_F(RawCard, CountingTakesNoSimulatedTime) {
  const auto plain = elapsed([&] { chip_id(); });
  const auto counted = elapsed([&] { accesses([&] { chip_id(); }); });
  EXPECT_EQ(plain, counted);
}

TEST_F(RawCard, ARemovedCardReadsAsAllOnes) {
  inject(surprise_removal(), at_access(2, AccessKind::kMmioRead, "CHIP_ID"));
  EXPECT_EQ(chip_id(), kChipId);
  EXPECT_EQ(pending_faults(), 1U);
  EXPECT_EQ(chip_id(), kNothing);
  EXPECT_EQ(pending_faults(), 0U);
}

TEST_F(RawCard, AFaultBeginsAndEndsAtItsTimes) {
  const auto when = now() + 10_us;
  inject(memory_decode_off(1_us), at(when));
  run_until(when - 200_ns);
  EXPECT_EQ(chip_id(), kChipId) << "is at the card 132 ns after it begins";
  run_until(when + 900_ns);
  EXPECT_EQ(chip_id(), kChipId) << "is there when decoding is on again";
  run_until(when + 2_us);
  EXPECT_EQ(chip_id(), kChipId);
  inject(memory_decode_off(1_us));
  EXPECT_EQ(chip_id(), kNothing);
}

TEST_F(RawCard, AResetOfTheFunctionClosesItsWindow) {
  inject(function_level_reset());
  EXPECT_EQ(chip_id(), kNothing);
  EXPECT_EQ(platform().pci().read32(card(), 0), kNothing) << "in reset";
  run_for(1_ms);
  EXPECT_NE(platform().pci().read32(card(), 0), kNothing);
  EXPECT_EQ(chip_id(), kNothing) << "it decodes nothing yet";
}

TEST_F(RawCard, IsFoundAgainByAResetWhateverWasWrittenToItsBars) {
  auto& config = platform().pci();
  const auto before = config.read32(card(), abi::pci::kBar0 + 8);
  for (std::uint32_t i = 0; i < 6; ++i) config.write32(card(), abi::pci::kBar0 + 4 * i, 0);
  EXPECT_NE(chip_id(), kChipId) << "its registers are elsewhere";
  ASSERT_THAT(platform().reset_function(card()), Succeeds());
  EXPECT_EQ(config.read32(card(), abi::pci::kBar0 + 8), before);
  config.write16(card(), abi::pci::kCommand, abi::pci::kCommandMemory);
  EXPECT_EQ(chip_id(), kChipId);
}

TEST_F(RawCard, APoweredDownCardAnswersConfigurationOnly) {
  inject(power_down(5_us));
  EXPECT_EQ(chip_id(), kNothing);
  EXPECT_NE(platform().pci().read32(card(), 0), kNothing);
}

TEST_F(RawCard, APoisonedAnswerOfARegisterIsAllOnes) {
  inject(poisoned_completion(Requester::kHost));
  EXPECT_EQ(chip_id(), kNothing);
  EXPECT_EQ(chip_id(), kChipId) << "one completion only";
}

TEST_F(RawCard, FaultsThatMakeNoSenseAreRefused) {
  const auto refused = [&](const Fault& fault, const When& when) {
    const auto status = machine().inject(fault, when);
    EXPECT_THAT(status, FailsWith(ErrorCode::kInvalidArgument));
    return status ? std::string() : status.error().context;
  };
  EXPECT_EQ(refused(surprise_removal().on_card(1), at_once()), "no card 1: the machine has 1");
  EXPECT_EQ(refused(peer_link_down(1), at_once()), "no HCCS link between the cards 0 and 1");
  EXPECT_THAT(refused(surprise_removal(), at(now() - 1_ps)), HasSubstr("ps have passed"));
  EXPECT_EQ(refused(surprise_removal(), at_access(0, AccessKind::kPoll)),
            "access 0: the next one is number 1");
  EXPECT_EQ(refused(surprise_removal(), at_access(1, AccessKind::kMmioWrite, "DORBELL")),
            "no register is called DORBELL");
  EXPECT_EQ(refused(link_down(Picoseconds(-1)), at_once()), "a duration of -1 ps");
  EXPECT_EQ(pending_faults(), 0U);
}

TEST_F(RawCard, ASecondMachineOfAProcessSaysWhatToLink) {
  class Another : public MachineTest {
    void TestBody() override {}
  };
  try {
    const Another another;
    ADD_FAILURE() << "there are two machines";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("npusim::testing_main"));
  }
}

class FourLanes : public RawCard {
 protected:
  FourLanes() : RawCard("910b2", {"link.lanes=4"}) {}
};
TEST_F(FourLanes, TakeFourTimesAsLongOnTheWire) {
  const std::int64_t wires = (24 * 65'000 + 511) / 512 + (28 * 65'000 + 511) / 512;
  EXPECT_EQ(elapsed([&] { chip_id(); }), 265_ns + Picoseconds(wires));
}

class TwoCards : public MachineTest {
 protected:
  TwoCards() : MachineTest("system-2x910b2") {}
};
TEST_F(TwoCards, FailOneByOne) {
  ASSERT_EQ(machine().cards(), 2U);
  inject(surprise_removal().on_card(1));
  EXPECT_NE(platform().pci().read32(card(0), 0), 0xFFFFFFFF);
  EXPECT_EQ(platform().pci().read32(card(1), 0), 0xFFFFFFFF);
  EXPECT_THROW(card(2), std::out_of_range);
  EXPECT_THAT(machine().inject(peer_link_down(1, 5_us), at_once()), Succeeds());
}

TEST(Configuration, WithAnErrorIsRefusedWithItsLine) {
  const auto stuck = [](const Error&) {};
  const auto unknown = Machine::create("910x", {}, stuck);
  ASSERT_THAT(unknown, FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(unknown.error().context, HasSubstr("910x"));
  const auto wrong = Machine::create("910b", {"link.lanes=5"}, stuck);
  ASSERT_THAT(wrong, FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(wrong.error().context, HasSubstr("link.lanes"));
  // Neither was a machine.
  EXPECT_THAT(Machine::create("910b", {}, stuck), Succeeds());
}

TEST(Configuration, OnlyTheFirstMachineOfAProcessExists) {
  const auto stuck = [](const Error&) {};
  { EXPECT_THAT(Machine::create("910b", {}, stuck), Succeeds()); }
  EXPECT_THAT(Machine::create("910b", {}, stuck), FailsWith(ErrorCode::kAlreadyExists));
}

}  // namespace
}  // namespace npu::testkit
