// SPDX-License-Identifier: Apache-2.0
// The VFIO backend keeps the platform contract: on a machine without a card its time, tasks and
// what it says of absent functions; with one, named by NPU_VFIO_CARD, all of it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "driver/vfio/vfio_platform.hpp"
#include "npu/abi/identity.hpp"
#include "npu/abi/pci.hpp"
#include "tests/contract/contract_suite.hpp"
#include "tests/support/matchers.hpp"

namespace npu::test {
namespace {

constexpr char kCardVariable[] = "NPU_VFIO_CARD";  // "01:00.0": a card bound to vfio-pci

std::optional<platform::Bdf> card_of_this_machine() {
  const char* const text = std::getenv(kCardVariable);
  if (text == nullptr) return std::nullopt;
  unsigned bus = 0, device = 0, function = 0;
  if (std::sscanf(text, "%2x:%2x.%1x", &bus, &device, &function) != 3) {
    ADD_FAILURE() << kCardVariable << " is no function: " << text;
  }
  return platform::Bdf{static_cast<std::uint8_t>(bus), static_cast<std::uint8_t>(device),
                       static_cast<std::uint8_t>(function)};
}

// Without a card a sysfs in which there is nothing.
driver::VfioOptions machine() {
  driver::VfioOptions options;
  if (!card_of_this_machine()) options.sysfs_path = options.vfio_path = "/nonexistent";
  return options;
}

class VfioEnvironment : public ContractEnvironment {
 public:
  platform::Platform& platform() override { return platform_; }
  std::optional<platform::Bdf> card() override { return card_of_this_machine(); }
  platform::Bdf absent() override { return {0xE9, 3, 1}; }
  void run(const std::function<void()>& body) override { body(); }
  bool is_exact() const override { return false; }

 private:
  driver::vfio::VfioPlatform platform_{machine()};
};

[[maybe_unused]] const bool kRegistered =
    register_contract_suite("Vfio", [] { return std::make_unique<VfioEnvironment>(); });

// What only this platform has.
class VfioCard : public testing::Test {
 protected:
  void SetUp() override {
    if (!card_of_this_machine()) GTEST_SKIP() << kCardVariable << " names no card";
    card = *card_of_this_machine();
  }
  auto map(driver::vfio::VfioPlatform& platform) const {
    return platform.map_bar(card, 0, 0, 4096, platform::Caching::kUncached);
  }

  platform::Bdf card;
  driver::vfio::VfioPlatform vfio{machine()};
};

TEST_F(VfioCard, AccessesWithoutMemoryDecodingGiveAllOnesAndDoNotKill) {
  vfio.pci().write16(card, abi::pci::kCommand, abi::pci::kCommandMemory);
  const auto region = must(map(vfio));
  const auto chip = region->read32(0);
  EXPECT_EQ(chip & 0xFFFF, abi::kVendorId);
  vfio.pci().write16(card, abi::pci::kCommand, 0);
  EXPECT_EQ(region->read32(0), 0xFFFFFFFFU);
  region->write32(0, 0);
  EXPECT_EQ(region->read64(0), ~0ULL);
  vfio.pci().write16(card, abi::pci::kCommand, abi::pci::kCommandMemory);
  const auto again = must(map(vfio));
  EXPECT_EQ(again->read32(0), chip);
}

TEST_F(VfioCard, IsOpenedByOneAtATime) {
  ASSERT_THAT(map(vfio), IsOk());
  driver::vfio::VfioPlatform other{machine()};
  EXPECT_THAT(map(other), FailsWith(ErrorCode::kBusy, "another process uses"));
}

TEST_F(VfioCard, CanBeOpenedAgainAfterItWasClosed) {
  for (int i = 0; i < 3; ++i) {
    driver::vfio::VfioPlatform other{machine()};
    EXPECT_THAT(map(other), IsOk()) << i;
  }
}

TEST_F(VfioCard, TheLastVectorOfTheTableCanBeOpenedAfterTheFirst) {
  const auto first = vfio.open_vector(card, 0);
  EXPECT_THAT(first, IsOk());
  EXPECT_THAT(vfio.open_vector(card, 255), IsOk());
  EXPECT_THAT(vfio.open_vector(card, 256), FailsWith(ErrorCode::kOutOfRange));
}

TEST_F(VfioCard, PasidsAreNotOffered) {
  const auto memory =
      must(vfio.allocate_dma(card, 4096, 4096, platform::DmaDirection::kBidirectional));
  EXPECT_THAT(vfio.bind_pasid(*memory, 1), FailsWith(ErrorCode::kUnsupported));
}

// Any other function of the machine: it has another driver, none, or no IOMMU.
TEST_F(VfioCard, AFunctionThatIsNotVfiosIsAnErrorThatSaysSo) {
  for (unsigned packed = 0; packed < 256; ++packed) {
    const auto bdf = platform::Bdf::unpack(static_cast<std::uint16_t>(packed));
    if (vfio.pci().read16(bdf, 0) == 0xFFFF || bdf == card) continue;
    const auto opened = vfio.open_vector(bdf, 0);
    ASSERT_FALSE(opened) << to_string(bdf);
    EXPECT_TRUE(opened.error().code == ErrorCode::kPermissionDenied ||
                opened.error().code == ErrorCode::kUnsupported)
        << opened.error().message();
    EXPECT_NE(opened.error().context.find(to_string(bdf)), std::string::npos)
        << opened.error().message();
    return;
  }
  FAIL() << "not even a host bridge on bus 0";
}

}  // namespace
}  // namespace npu::test
