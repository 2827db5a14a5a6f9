// SPDX-License-Identifier: Apache-2.0
// Virtual functions on a machine for tests: what their owner has done to them is gone with a reset
// and with the end of their device, and two resets at a time are two resets.
#include <random>

#include "npu/abi/pci.hpp"
#include "npu/driver/virtual_functions.hpp"
#include "tests/regression/opened_card.hpp"

namespace npu::regression {
namespace {

namespace pci = abi::pci;
using testkit::ReadsOf;

class VirtualFunction : public testkit::MachineTest {
 protected:
  VirtualFunction() : MachineTest("910b2") {}
  void SetUp() override {
    auto device = driver::Device::open_index(platform(), 0);
    ASSERT_THAT(device, Succeeds());
    device_ = std::move(*device);
    auto functions = driver::VirtualFunctions::open(*device_);
    ASSERT_THAT(functions, Succeeds());
    functions_ = std::move(*functions);
    ASSERT_THAT(functions_->set_count(2), Succeeds());
    create();
  }
  void TearDown() override {
    functions_.reset();
    device_.reset();
  }
  void create() {
    driver::VirtualDeviceOptions options;
    options.name = functions_->templates()[0].name;
    const auto made = functions_->create(options);
    ASSERT_THAT(made, Succeeds());
    index_ = made->index;
    bdf_ = *made->bdf;
  }
  bool opens() { return driver::Device::open(platform(), bdf_).has_value(); }
  void spoil() {
    for (std::uint32_t i = 0; i < 6; ++i) platform().pci().write32(bdf_, pci::kBar0 + 4 * i, 0);
    platform().pci().write16(bdf_, pci::kCommand, pci::kCommandIntxDisable);
  }
  void begin_own_reset() {
    const auto express = capability(pci::kCapPciExpress) + pci::kExpDeviceControl;
    const auto control = platform().pci().read16(bdf_, express);
    platform().pci().write16(bdf_, express,
                             static_cast<std::uint16_t>(control | pci::kExpDeviceControlFlr));
  }
  std::uint32_t capability(std::uint8_t id) {
    std::uint32_t at = platform().pci().read8(bdf_, pci::kCapabilityPointer);
    while (at != 0 && platform().pci().read8(bdf_, at) != id) {
      at = platform().pci().read8(bdf_, at + 1);
    }
    return at;
  }

  std::unique_ptr<driver::Device> device_;
  std::unique_ptr<driver::VirtualFunctions> functions_;
  std::uint32_t index_ = 0;
  platform::Bdf bdf_;
};

TEST_F(VirtualFunction, ThereAreAsManyAsWereMade) {
  const auto there = platform().virtual_functions(card());
  ASSERT_THAT(there, Succeeds());
  EXPECT_EQ(there->size(), 2U);
  EXPECT_TRUE(opens());
}

TEST_F(VirtualFunction, HasNamesForItsRegistersAndItsMemory) {
  platform().pci().write16(bdf_, pci::kCommand, pci::kCommandMemory);
  const auto bar0 = platform().map_bar(bdf_, 0, 0, 4_KiB, platform::Caching::kUncached);
  ASSERT_THAT(bar0, Succeeds());
  EXPECT_THAT(accesses([&] { (*bar0)->read32(0); }), ReadsOf("CHIP_ID", 1));
}

TEST_F(VirtualFunction, ThatItsOwnerHasSpoiledIsAsNewAfterAReset) {
  spoil();
  EXPECT_FALSE(opens());
  ASSERT_THAT(platform().reset_function(bdf_), Succeeds());
  EXPECT_TRUE(opens());
}

TEST_F(VirtualFunction, ThatItsOwnerHasSpoiledIsAsNewAfterItsOwnReset) {
  spoil();
  begin_own_reset();
  run_for(100_ms);
  EXPECT_TRUE(opens());
}

TEST_F(VirtualFunction, ThatItsOwnerHasSpoiledIsAsNewAfterSomebodyElsesReset) {
  spoil();
  inject(testkit::function_level_reset().on_virtual_function(index_));
  run_for(100_ms);
  EXPECT_TRUE(opens());
}

TEST_F(VirtualFunction, ThatItsOwnerHasSpoiledIsAsNewForTheNextOne) {
  platform().pci().write16(bdf_, pci::kCommand, pci::kCommandMemory | pci::kCommandBusMaster);
  spoil();
  ASSERT_THAT(functions_->destroy(index_), Succeeds());
  create();
  EXPECT_EQ(platform().pci().read16(bdf_, pci::kCommand), 0U) << "and its bits are off";
  EXPECT_TRUE(opens());
}

TEST_F(VirtualFunction, IsResetBehindAResetThatHasBegun) {
  begin_own_reset();
  EXPECT_THAT(platform().reset_function(bdf_), Succeeds());
  EXPECT_TRUE(opens());
}

TEST_F(VirtualFunction, IsResetByTwoTasksAtOnce) {
  for (unsigned i = 0; i < 20; ++i) {
    Status other;
    const auto task = platform().tasks().spawn("other", [&] {
      platform().clock().sleep_until(now() + i * 100_ns);
      other = platform().reset_function(bdf_);
    });
    ASSERT_THAT(task, Succeeds());
    EXPECT_THAT(platform().reset_function(bdf_), Succeeds()) << i;
    (*task)->join();
    EXPECT_THAT(other, Succeeds()) << i;
  }
  EXPECT_TRUE(opens());
}

// Rubbish in its configuration space, resets by its owner and by others in any order, and its end.
TEST_F(VirtualFunction, IsThereForTheNextOneWhateverItsOwnerDid) {
  std::mt19937 random(20260612);
  for (unsigned round = 0; round < 60; ++round) {
    for (unsigned step = random() % 8; step-- > 0;) {
      const unsigned what = random() % 4;
      if (what == 0) spoil();
      if (what == 1)
        platform().pci().write32(bdf_, 4 * static_cast<std::uint32_t>(random() % 16),
                                 static_cast<std::uint32_t>(random()));
      if (what == 2) begin_own_reset();
      if (what == 3) inject(testkit::function_level_reset().on_virtual_function(index_));
      run_for(Picoseconds(static_cast<std::int64_t>(random() % 3) * 20'000'000'000));
    }
    if (random() % 2 == 0) {
      ASSERT_THAT(platform().reset_function(bdf_), Succeeds()) << round;
    } else {
      ASSERT_THAT(functions_->destroy(index_), Succeeds()) << round;
      create();
      run_for(100_ms);
    }
    ASSERT_TRUE(opens()) << round;
  }
}

TEST_F(VirtualFunction, ThatIsNotThereIsNotFoundAtOnce) {
  const auto before = now();
  const platform::Bdf nowhere{0x7F, 3, 1};
  EXPECT_THAT(platform().reset_function(nowhere), testkit::FailsWith(ErrorCode::kNotFound));
  EXPECT_LT(now() - before, 10_us);
}

}  // namespace
}  // namespace npu::regression
