// SPDX-License-Identifier: Apache-2.0
// A driver under test has the whole platform: those around the machine's pass on every function,
// those with an implementation of their own too.
#include <regex>
#include <string>

#include "npu/testing/machine_test.hpp"
#include "npu/testing/without_barriers.hpp"
#include "tests/support/folders.hpp"

namespace npu::testkit {
namespace {

TEST(ForwardingPlatform, PassesOnEveryFunctionOfAPlatform) {
  const auto declared = file_text(source_dir() + "/include/npu/platform/platform.hpp");
  const auto passed_on = file_text(source_dir() + "/include/npu/testing/forwarding_platform.hpp");
  const std::regex function("virtual [^;{(~]*?(\\w+)\\(");
  int found = 0;
  for (std::sregex_iterator each(declared.begin(), declared.end(), function), end; each != end;
       ++each) {
    const std::string name = (*each)[1];
    EXPECT_TRUE(std::regex_search(passed_on, std::regex("\\b" + name + "\\([^;]*?override")))
        << name;
    ++found;
  }
  EXPECT_GE(found, 15);
}

class DriverUnderTest : public MachineTest {
 protected:
  DriverUnderTest() : MachineTest("910b2") {}
  // The platform as drivers have it: the fixture's, and one without barriers around it.
  template <class Check>
  void on_each_platform(Check check) {
    check(platform());
    WithoutBarriers without(platform());
    check(without);
  }
};

TEST_F(DriverUnderTest, MakesAndSeesVirtualFunctions) {
  unsigned count = 0;
  on_each_platform([&](platform::Platform& host) {
    ASSERT_THAT(host.set_virtual_functions(card(), 0), Succeeds());
    ASSERT_THAT(host.set_virtual_functions(card(), ++count), Succeeds());
    const auto there = host.virtual_functions(card());
    ASSERT_THAT(there, Succeeds());
    EXPECT_EQ(there->size(), count);
  });
}

TEST_F(DriverUnderTest, PinsMemoryOfOthers) {
  alignas(4096) static std::byte memory[4096];
  on_each_platform([&](platform::Platform& host) {
    const auto pinned =
        host.import_dma(card(), {memory, sizeof memory}, platform::DmaDirection::kBidirectional,
                        platform::HostPages::kResident);
    ASSERT_THAT(pinned, Succeeds());
    EXPECT_EQ((*pinned)->cpu().data, memory);
  });
}

TEST_F(DriverUnderTest, IsHeardWhenItTellsWhatWasNotFreed) {
  WithoutBarriers without(platform());
  without.note_never_freed("stand-in", 2, 64);
  ASSERT_EQ(machine().leaks().size(), 1U);
  EXPECT_EQ(machine().leaks().front().count, 2U);
}

}  // namespace
}  // namespace npu::testkit
