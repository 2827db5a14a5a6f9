// SPDX-License-Identifier: Apache-2.0
// Which functions of a card there are, and what goes with a reset. Resets of the configuration take
// 1 ms; the card's first virtual function is number 8 of the bus.
#include "model/pcie/function_set.hpp"

#include <gtest/gtest.h>

#include "npu/abi/pci.hpp"
#include "tests/bench/pcie/pcie_config.hpp"

namespace npu::test {
namespace {

namespace pci = abi::pci;
using Devices = model::FunctionSet::Devices;

class FunctionSet : public testing::Test {
 protected:
  void enable_virtual_functions(unsigned count) {
    auto& first = set.first();
    std::uint32_t at = pci::kExtendedStart;
    while ((first.read(at, 4) & 0xFFFF) != pci::kExtSriov) at = first.read(at, 4) >> 20;
    first.write(at + pci::kSriovNumVfs, 2, count);
    first.write(at + pci::kSriovControl, 2,
                count > 0 ? pci::kSriovControlEnable | pci::kSriovControlMemory : 0);
  }
  static void pass(Picoseconds time) {
    sc_core::sc_start(sc_core::sc_time::from_value(model::ticks(time)));
  }
  bool answers(unsigned number) { return set.find(number) != nullptr; }

  model::Simulation simulation;
  const model::ChipConfig chip = chip_config();
  model::FunctionSet set{chip, 2};  // the second has nothing of the card behind it
};

TEST_F(FunctionSet, VirtualOnesAnswerWhileTheyAreEnabled) {
  EXPECT_TRUE(answers(0));
  EXPECT_TRUE(answers(1));
  EXPECT_FALSE(answers(2));
  EXPECT_FALSE(answers(8));
  enable_virtual_functions(2);
  EXPECT_EQ(set.follow_virtual_functions(), Devices{});
  EXPECT_EQ(set.find(8), &set.of_chip(1));
  EXPECT_EQ(set.find(9), &set.of_chip(2));
  EXPECT_FALSE(answers(10));
  enable_virtual_functions(0);
  EXPECT_EQ(set.follow_virtual_functions(), (Devices{1, 2}));
  EXPECT_FALSE(answers(8));
}

TEST_F(FunctionSet, RoutingIdsHaveTheBusThatWasLearnt) {
  set.set_bus(3);
  EXPECT_EQ(set.requester(set.first()), 0x300U);
  EXPECT_EQ(set.requester(set.of_chip(1)), 0x308U);
}

TEST_F(FunctionSet, AddressesAreOfWhoDecodesThem) {
  auto& payload = simulation.pool.allocate(tlm::TLM_READ_COMMAND, 0, nullptr, 4);
  set.first().write(pci::kBar0, 4, 0x4000'0000);
  set.first().write(pci::kBar0 + 8, 4, 0);
  set.first().write(pci::kBar0 + 12, 4, 0x10);  // BAR2 at 64 GiB
  payload.set_address(0x4000'0010);
  EXPECT_EQ(set.decode(payload).function, nullptr) << "memory decoding is off";
  set.first().write(pci::kCommand, 2, pci::kCommandMemory);
  const auto registers = set.decode(payload);
  EXPECT_EQ(registers.function, &set.first());
  EXPECT_EQ(registers.offset, 0x10u);
  EXPECT_FALSE(registers.is_memory());
  payload.set_address(0x10'0000'0020);
  const auto memory = set.decode(payload);
  EXPECT_EQ(memory.function, &set.first());
  EXPECT_EQ(memory.offset, 0x20u);
  EXPECT_TRUE(memory.is_memory());
  payload.set_address(0x3000'0000);
  EXPECT_EQ(set.decode(payload).function, nullptr);
  payload.release();
}

TEST_F(FunctionSet, NobodyAnswersUntilWhatIsBehindIsResetToo) {
  set.set_reset_time(0, 3_ms);
  EXPECT_EQ(set.function_level_reset(set.first()), Devices{0});
  EXPECT_FALSE(answers(0));
  EXPECT_TRUE(answers(1)) << "another function";
  EXPECT_FALSE(set.in_hot_reset());
  pass(2_ms);
  EXPECT_FALSE(answers(0));
  pass(1_ms);
  EXPECT_TRUE(answers(0));
}

TEST_F(FunctionSet, TheFirstTakesItsVirtualOnesWithIt) {
  enable_virtual_functions(2);
  set.follow_virtual_functions();
  EXPECT_EQ(set.function_level_reset(set.of_chip(2)), Devices{2});
  EXPECT_TRUE(answers(8));
  EXPECT_FALSE(answers(9));
  EXPECT_EQ(set.function_level_reset(set.first()), (Devices{1, 2, 0}));
  pass(1_ms);
  EXPECT_TRUE(answers(0));
  EXPECT_FALSE(answers(8));
}

TEST_F(FunctionSet, HotResetIsOfAll) {
  enable_virtual_functions(1);
  set.follow_virtual_functions();
  EXPECT_EQ(set.hot_reset(), (Devices{1, 0}));
  EXPECT_TRUE(set.in_hot_reset());
  EXPECT_FALSE(answers(0) || answers(1) || answers(8));
  pass(1_ms);
  EXPECT_FALSE(set.in_hot_reset());
  EXPECT_TRUE(answers(0) && answers(1));
  EXPECT_FALSE(answers(8));
}

}  // namespace
}  // namespace npu::test
