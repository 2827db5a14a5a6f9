// SPDX-License-Identifier: Apache-2.0
// What cannot be had of a card, and why.
#include "divided_card.hpp"

namespace npu::test {
namespace {

ErrorCode refused(Owner& owner, const driver::VirtualDeviceOptions& options) {
  const auto made = owner.functions->create(options);
  EXPECT_FALSE(made);
  return made ? ErrorCode::kIo : made.error().code;
}

driver::VirtualDeviceOptions by(const std::string& name) {
  driver::VirtualDeviceOptions options;
  options.name = name;
  return options;
}

TEST(VirtualRefusals, ACoreTooManyIsNamed) {
  DividedCard().run([&](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(4));
    owner.create("vir12_3c_32g");
    driver::VirtualDeviceOptions options;
    options.partition = {13, 1, 1_GiB, 0, 0, 0, 0, 0};
    const auto made = owner.functions->create(options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::kOutOfResources);
    EXPECT_EQ(made.error().context, "13 AI Cores wanted, 12 are free");
    options.partition.ai_cores = 12;
    EXPECT_TRUE(owner.functions->create(options));
  });
}

TEST(VirtualRefusals, EachHasItsCode) {
  DividedCard().run([&](Owner& owner) {
    EXPECT_EQ(refused(owner, by("vir06_1c_16g")), ErrorCode::kOutOfRange) << "SR-IOV is off";
    ASSERT_TRUE(owner.functions->set_count(1));
    EXPECT_EQ(refused(owner, by("vir99")), ErrorCode::kNotFound);
    EXPECT_EQ(refused(owner, {}), ErrorCode::kInvalidArgument);
    auto beyond = by("vir06_1c_16g");
    beyond.index = 1;
    EXPECT_EQ(refused(owner, beyond), ErrorCode::kOutOfRange);
    auto weightless = by("vir06_1c_16g");
    weightless.weights.hbm = 0;
    EXPECT_EQ(refused(owner, weightless), ErrorCode::kInvalidArgument);
    auto group = by("vir06_1c_16g");
    group.group = driver::GroupPartition{4, 1, 1, 0, false};
    EXPECT_EQ(refused(owner, group), ErrorCode::kInvalidArgument);
    EXPECT_EQ(owner.functions->destroy(0).error().code, ErrorCode::kNotFound);
    owner.create("vir06_1c_16g");
    EXPECT_EQ(refused(owner, by("vir06_1c_16g")), ErrorCode::kOutOfResources);
    auto same = by("vir06_1c_16g");
    same.index = 0;
    EXPECT_EQ(refused(owner, same), ErrorCode::kAlreadyExists);
    EXPECT_EQ(owner.functions->set_count(0).error().code, ErrorCode::kBusy);
  });
}

TEST(VirtualRefusals, ADeviceThatIsOpenIsNotDestroyed) {
  DividedCard().run([&](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(1));
    const auto made = owner.create("vir06_1c_16g");
    {
      Tenant tenant(owner.host, *made.bdf);
      EXPECT_EQ(owner.functions->destroy(made.index).error().code, ErrorCode::kBusy);
      EXPECT_TRUE(tenant.fill(0x1111));
    }
    EXPECT_TRUE(owner.functions->destroy(made.index));
  });
}

TEST(VirtualRefusals, MemoryThatThePhysicalFunctionUsesIsNotTaken) {
  DividedCard().run([&](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(1));
    const auto used = must(owner.device->allocate(40_GiB));
    EXPECT_EQ(refused(owner, by("vir12_3c_32g")), ErrorCode::kOutOfMemory);
    EXPECT_TRUE(owner.device->free(used.address));
    owner.create("vir12_3c_32g");
  });
}

TEST(VirtualRefusals, AVirtualFunctionDividesNothing) {
  DividedCard().run([&](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(1));
    const auto made = owner.create("vir06_1c_16g");
    const Tenant tenant(owner.host, *made.bdf);
    const auto opened = driver::VirtualFunctions::open(*tenant.device);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported);
  });
}

// Not ready: there is nothing behind it yet.
TEST(VirtualRefusals, AFunctionWithoutADeviceDoesNotOpen) {
  DividedCard().run([&](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(1));
    const auto bdf = must(owner.host.virtual_functions(owner.bdf)).front();
    EXPECT_FALSE(driver::Device::open(owner.host, bdf));
  });
}

}  // namespace
}  // namespace npu::test
