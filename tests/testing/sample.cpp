// SPDX-License-Identifier: Apache-2.0
// Tests that end in every way there is; program_test.sh looks at what becomes of them.
#include <csignal>
#include <iostream>

#include "npu/testing/machine_test.hpp"

namespace {

using npu::testkit::MachineTest;

class Sample : public MachineTest {};

TEST_F(Sample, Passes) {
  std::cout << "printed by a test\n";
  run_for(npu::Picoseconds(1'500'000));
  RecordProperty("answer", "4 < 5 & \"six\"");
}
TEST_F(Sample, Fails) {
  EXPECT_THAT(accesses([&] { platform().pci().read16(card(), 0x06); }),
              npu::testkit::ConfigAccesses(0))
      << "\xff is no character";
}
TEST_F(Sample, IsSkipped) {
  GTEST_SKIP() << "not today";
}
TEST_F(Sample, Crashes) {
  std::raise(SIGSEGV);
}
TEST_F(Sample, Exits) {
  std::_Exit(0);
}
TEST_F(Sample, Throws) {
  throw std::runtime_error("out of the body");
}
TEST_F(Sample, WaitsForEver) {
  const auto mutex = platform().tasks().make_mutex();
  const auto condition = platform().tasks().make_condition();
  mutex->lock();
  static_cast<void>(condition->wait(*mutex, npu::Instant::never()));
}
TEST_F(Sample, DISABLED_IsNotRun) {
  FAIL();
}

class BadConfiguration : public MachineTest {
 protected:
  BadConfiguration() : MachineTest("910b", {"link.lanes=17"}) {}
};
TEST_F(BadConfiguration, Fails) {
  FAIL() << "the body is never reached";
}

class Values : public MachineTest, public ::testing::WithParamInterface<const char*> {
 protected:
  Values() : MachineTest(GetParam()) {}
};
TEST_P(Values, AreConfigurations) {
  EXPECT_EQ(machine().cards(), 1U);
}
INSTANTIATE_TEST_SUITE_P(Chips, Values, ::testing::Values("910", "910b", "950"));

TEST(WithoutAMachine, IsATestAsWell) {}

}  // namespace
