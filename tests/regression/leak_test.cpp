// SPDX-License-Identifier: Apache-2.0
// What is not given back is named, with its size.
#include "npu/abi/pci.hpp"
#include "tests/regression/opened_card.hpp"

namespace npu::regression {
namespace {

using ::testing::HasSubstr;
using testkit::describe;

class Leaks : public testkit::MachineTest {
 protected:
  std::string text() { return describe(machine().leaks()); }
  std::unique_ptr<driver::Device> open() {
    auto opened = driver::Device::open_index(platform(), 0);
    EXPECT_THAT(opened, Succeeds());
    return opened ? std::move(*opened) : nullptr;
  }
};

TEST_F(Leaks, OfAPlatformsObjectsAreThoseThatAreStillThere) {
  EXPECT_EQ(text(), "");
  std::vector<std::unique_ptr<platform::DmaMemory>> buffers;
  for (const Bytes size : {4_KiB, 4_KiB, 64_KiB}) {
    auto made = platform().allocate_dma(card(), size, 4096, platform::DmaDirection::kBidirectional);
    ASSERT_THAT(made, Succeeds());
    buffers.push_back(std::move(*made));
  }
  platform().pci().write16(card(), abi::pci::kCommand, abi::pci::kCommandMemory);
  const auto vector = platform().open_vector(card(), 3);
  ASSERT_THAT(vector, Succeeds());
  EXPECT_EQ(text(), "3 host buffers (4KiB, 4KiB, 64KiB), 1 interrupt vector never freed");
  buffers.clear();
  EXPECT_EQ(text(), "1 interrupt vector never freed");
}

TEST_F(Leaks, OfTheDriverAreWhatItsUserHasNotGivenBack) {
  auto device = open();
  const auto kept = device->allocate(2_MiB), freed = device->allocate(4_MiB);
  driver::MemoryOptions pinned;
  pinned.pinned = true;
  ASSERT_THAT(device->allocate(6_MiB, pinned), Succeeds());
  ASSERT_TRUE(kept && freed);
  ASSERT_THAT(device->free(freed->address), Succeeds());
  const auto event = device->create_event();
  ASSERT_TRUE(event && device->create_event());
  ASSERT_THAT(device->destroy_event(*event), Succeeds());
  device.reset();
  EXPECT_EQ(text(), "1 device buffer (2MiB), 1 pinned device buffer (6MiB), 1 event never freed");
}

TEST_F(Leaks, OfMemoryThatSomebodyElseKeepsArePins) {
  alignas(4096) static std::byte memory[8192];
  {
    const auto pinned =
        platform().import_dma(card(), {memory, sizeof memory},
                              platform::DmaDirection::kBidirectional, platform::HostPages::kFresh);
    ASSERT_THAT(pinned, Succeeds());
    EXPECT_EQ(text(), "1 pin (8KiB) never freed");
  }
  EXPECT_EQ(text(), "");
}

TEST_F(Leaks, OfADriverThatGivesAllBackAreNone) {
  auto device = open();
  const auto memory = device->allocate(2_MiB);
  const auto event = device->create_event();
  ASSERT_TRUE(memory && event);
  ASSERT_THAT(device->destroy_event(*event), Succeeds());
  ASSERT_THAT(device->free(memory->address), Succeeds());
  device.reset();
  EXPECT_EQ(text(), "");
}

TEST_F(Leaks, OfACardThatWasLostAreThere) {
  auto device = open();
  ASSERT_THAT(device->allocate(2_MiB), Succeeds());
  inject(testkit::surprise_removal());
  EXPECT_FALSE(device->create_event());
  device.reset();
  EXPECT_EQ(text(), "1 device buffer (2MiB) never freed");
}

TEST_F(Leaks, ThatADriverTellsOfAreNamedAsItNamesThem) {
  platform().note_never_freed("pin", 1, 0);
  platform().note_never_freed("page", 5, 20_KiB);
  EXPECT_EQ(text(), "1 pin, 5 pages (20KiB in all) never freed");
}

TEST_F(Leaks, AreInTheReport) {
  EXPECT_THAT(machine().report("a.test"), HasSubstr("\"test.never_freed.objects\", \"value\": 0"));
  platform().note_never_freed("pin", 1, 0);
  const auto report = machine().report("a.test");
  EXPECT_THAT(report, HasSubstr("\"test.never_freed.objects\", \"value\": 1"));
  EXPECT_THAT(report, HasSubstr("1 pin never freed"));
}

}  // namespace
}  // namespace npu::regression
