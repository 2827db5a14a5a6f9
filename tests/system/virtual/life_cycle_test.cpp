// SPDX-License-Identifier: Apache-2.0
// A virtual function from its making to its end, as Linux and its driver see it.
#include "divided_card.hpp"
#include "npu/abi/pci.hpp"
#include "npu/driver/management.hpp"

namespace npu::test {
namespace {

TEST(VirtualFunctions, TheDriverOpensOneAsACard) {
  DividedCard().run([&](Owner& owner) {
    const auto before = must(owner.functions->free_partition());
    ASSERT_TRUE(owner.functions->set_count(4));
    const auto made = owner.create("vir06_1c_16g");
    ASSERT_TRUE(made.bdf);
    {
      Tenant tenant(owner.host, *made.bdf);
      EXPECT_EQ(tenant.device->info().ai_cores, 6U);
      EXPECT_TRUE(tenant.fill(0x1111));
      EXPECT_TRUE(tenant.holds(0x1111));
    }
    EXPECT_TRUE(owner.functions->destroy(made.index));
    EXPECT_EQ(must(owner.functions->free_partition()), before);
  });
}

// 0 -> 4 -> 4 -> 6 -> 0, as sriov_numvfs.
TEST(VirtualFunctions, TheirNumberChangesFrom0AndTo0Only) {
  DividedCard().run([&](Owner& owner) {
    auto& clock = owner.host.clock();
    const auto before = clock.now();
    EXPECT_TRUE(owner.functions->set_count(4));
    EXPECT_GE(clock.now() - before, 100_ms);
    EXPECT_TRUE(owner.functions->set_count(4));
    EXPECT_EQ(owner.functions->set_count(6).error().code, ErrorCode::kBusy);
    EXPECT_EQ(must(owner.functions->count()), 4U);
    const auto off = clock.now();
    EXPECT_TRUE(owner.functions->set_count(0));
    EXPECT_GE(clock.now() - off, 1_s);
    EXPECT_EQ(must(owner.functions->count()), 0U);
    EXPECT_EQ(owner.functions->set_count(13).error().code, ErrorCode::kOutOfRange);
  });
}

TEST(VirtualFunctions, EachHasItsOwnMemoryAtTheSameAddresses) {
  DividedCard().run([&](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(2));
    const auto a = owner.create("vir06_1c_16g"), b = owner.create("vir12_4c_32g");
    Tenant first(owner.host, *a.bdf), second(owner.host, *b.bdf), physical(owner.host, owner.bdf);
    EXPECT_EQ(first.memory.value, second.memory.value);
    EXPECT_TRUE(first.fill(0x1111) && second.fill(0x2222) && physical.fill(0x3333));
    EXPECT_TRUE(first.holds(0x1111) && second.holds(0x2222) && physical.holds(0x3333));
  });
}

// Its memory is scrubbed, and it can be opened again at once; the others notice nothing.
TEST(VirtualFunctions, AResetIsOverIn100MsAndTouchesNobodyElse) {
  DividedCard card;
  card.run([&](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(2));
    const auto a = owner.create("vir12_3c_32g"), b = owner.create("vir12_4c_32g");
    Tenant other(owner.host, *b.bdf);
    EXPECT_TRUE(other.fill(0x2222));
    Bytes place = 0;
    {
      Tenant gone(owner.host, *a.bdf);
      EXPECT_TRUE(gone.fill(0x1111));
      const auto before = owner.host.clock().now();
      ASSERT_TRUE(owner.host.reset_function(*a.bdf));
      EXPECT_LT(owner.host.clock().now() - before, 100_ms);
      EXPECT_GT(owner.host.clock().now() - before, 30_ms) << "32 GB are scrubbed";
    }
    std::uint64_t raw = 0;
    for (place = 0; place < 1_GiB; place += 2_MiB) {
      card.system.card(0).hbm().memory().read(a.memory_base + place, &raw, 8);
      ASSERT_EQ(raw, 0U) << place;
    }
    EXPECT_TRUE(other.holds(0x2222));
    Tenant again(owner.host, *a.bdf);
    EXPECT_TRUE(again.fill(0x4444) && again.holds(0x4444));
  });
}

TEST(VirtualFunctions, AResetOfThePhysicalOneTakesThemAll) {
  DividedCard().run([&](Owner& owner) {
    const auto before = must(owner.functions->free_partition());
    ASSERT_TRUE(owner.functions->set_count(2));
    const auto a = owner.create("vir06_1c_16g");
    const auto bdf = owner.bdf;
    auto& host = owner.host;
    owner.functions.reset();
    static_cast<void>(owner.device->shutdown());
    owner.device.reset();
    ASSERT_TRUE(host.reset_function(bdf));
    EXPECT_EQ(host.pci().read32(*a.bdf, abi::pci::kRevision), abi::pci::kAllOnes);
    const auto device = must(driver::Device::open(host, bdf));
    const auto functions = must(driver::VirtualFunctions::open(*device));
    EXPECT_EQ(must(functions->count()), 0U);
    EXPECT_TRUE(must(functions->list()).empty());
    EXPECT_EQ(must(functions->free_partition()), before);
  });
}

TEST(VirtualFunctions, ADriverThatComesLaterFindsTheDevices) {
  DividedCard().run([&](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(2));
    const auto made = owner.create("vir06_2c_16g");
    const auto free = must(owner.functions->free_partition());
    owner.functions.reset();
    static_cast<void>(owner.device->shutdown());
    owner.device = must(driver::Device::open(owner.host, owner.bdf));
    owner.functions = must(driver::VirtualFunctions::open(*owner.device));
    const auto found = must(owner.functions->list());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].name, "vir06_2c_16g");
    EXPECT_EQ(found[0].id, 100U + made.index);
    EXPECT_EQ(must(owner.functions->free_partition()), free);
    // Its memory is no one else's.
    EXPECT_FALSE(owner.device->allocate(50_GiB));
    EXPECT_TRUE(owner.functions->destroy(made.index));
    EXPECT_TRUE(owner.device->allocate(50_GiB));
  });
}

// Two on one card: each finds the errors of its own memory alone, at its own address, and the card
// all of them.
TEST(VirtualFunctions, EachTellsOfItsOwnPartOfTheCard) {
  DividedCard card;
  card.run([&](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(2));
    const auto a = owner.create("vir06_1c_16g"), b = owner.create("vir06_1c_16g");
    Tenant first(owner.host, *a.bdf), second(owner.host, *b.bdf);
    const auto managed = driver::manage(*second.device), other = driver::manage(*first.device);
    driver::Management told(*managed), beside(*other);
    auto whole_access = driver::manage(*owner.device);
    driver::Management whole(*whole_access);
    EXPECT_EQ(must(told.core_uses(driver::CoreKind::kVector)).size(), 12U);
    ASSERT_TRUE(second.fill(7));
    const auto place = must(card.system.card(0).mmu().memory().local(
        model::space_of(1 + b.index, second.process->space().vmid()), second.memory.value));
    ASSERT_TRUE(told.inject_error(place - b.memory_base, 2));
    EXPECT_FALSE(second.execute(
        driver::entries::copy_to_host(second.memory, second.buffer->bus(), Tenant::kBytes)));
    EXPECT_EQ(must(told.memory_errors()).since_reset.multi, 1U);
    EXPECT_EQ(must(beside.memory_errors()).since_reset.multi, 0U);
    EXPECT_EQ(must(whole.memory_errors()).since_reset.multi, 1U);
  });
}

TEST(VirtualFunctions, AGroupsMembersBothRunOnItsCores) {
  DividedCard().run([&](Owner& owner) {
    ASSERT_TRUE(owner.functions->set_count(2));
    driver::VirtualDeviceOptions options;
    options.name = "vir12_3c_32g";
    options.group = driver::GroupPartition{1, 1, 2, 0, false};
    const auto first = must(owner.functions->create(options));
    options.name = "vir12_3c_32g_nm";
    const auto second = must(owner.functions->create(options));
    EXPECT_EQ(first.first_core, second.first_core);
    EXPECT_EQ(must(owner.functions->free_partition()).ai_cores, 12U);
    Tenant a(owner.host, *first.bdf), b(owner.host, *second.bdf);
    EXPECT_EQ(a.device->info().ai_cores, 12U);
    EXPECT_TRUE(a.fill(1) && b.fill(2) && a.holds(1) && b.holds(2));
  });
}

}  // namespace
}  // namespace npu::test
