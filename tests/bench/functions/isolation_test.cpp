// SPDX-License-Identifier: Apache-2.0
// Two functions of one card that do the same at the same time, each with its own.
#include "two_functions.hpp"

namespace npu::test {
namespace {

using abi::DmaOpcode;
using abi::FaultCode;

constexpr std::uint16_t code(FaultCode fault) {
  return static_cast<std::uint16_t>(fault);
}

TEST(Functions, EachShowsItsPartitionAndItsOwnRegisters) {
  TwoFunctions card;
  card.run([&](platform::Platform& host) {
    FunctionDriver first(host, card.bdf(0)), second(host, card.bdf(1));
    for (unsigned i = 0; i < 2; ++i) {
      auto& driver = i == 0 ? first : second;
      const auto partition = card.chip().partition(i);
      EXPECT_EQ(driver.usable, partition.usable);
      EXPECT_EQ(driver.read<abi::AiCoreCount>().raw, partition.clusters);
      EXPECT_EQ(driver.read<abi::QueueCores>().get<abi::QueueCores::Aicpus>(), partition.aicpus);
      EXPECT_EQ(driver.read<abi::QueueCapability>().get<abi::QueueCapability::DoorbellPages>(),
                partition.doorbell_pages);
    }
    first.write(abi::HccsAccess::from_raw(0x5A));
    EXPECT_EQ(second.read<abi::HccsAccess>().raw, 0U);
    second.copy(DmaOpcode::kDeviceToDevice, 0, second.usable + 1024_GiB);
    ASSERT_TRUE(second.copied());
    EXPECT_EQ(second.read<abi::FaultStatus>().raw, 1U);
    EXPECT_EQ(first.read<abi::FaultStatus>().raw, 0U);
  });
}

TEST(Functions, TheSameAddressIsAnotherPlaceForEach) {
  TwoFunctions card;
  card.run([&](platform::Platform& host) {
    FunctionDriver first(host, card.bdf(0)), second(host, card.bdf(1));
    first.memory->write64(0x1000, 0x1111);
    second.memory->write64(0x1000, 0x2222);
    EXPECT_EQ(first.memory->read64(0x1000), 0x1111U);
    first.copy(DmaOpcode::kDeviceToDevice, 0x1000, 0x2000);
    second.copy(DmaOpcode::kDeviceToDevice, 0x1000, 0x3000);
    ASSERT_TRUE(first.copied() && second.copied());
    EXPECT_EQ(first.memory->read64(0x2000), 0x1111U);
    EXPECT_EQ(first.memory->read64(0x3000), 0U);
    EXPECT_EQ(second.memory->read64(0x2000), 0U);
    EXPECT_EQ(second.memory->read64(0x3000), 0x2222U);
    std::uint64_t raw = 0;
    card.system.card(0).hbm().memory().read(card.chip().partition(1).memory_base + 0x3000, &raw, 8);
    EXPECT_EQ(raw, 0x2222U);
  });
}

TEST(Functions, NothingAnswersBeyondTheLimit) {
  TwoFunctions card;
  card.run([&](platform::Platform& host) {
    FunctionDriver first(host, card.bdf(0)), second(host, card.bdf(1));
    const Bytes limit = card.chip().partition(0).memory;
    second.memory->write64(0, 0x2222);
    const auto beyond = first.map(abi::kMemoryBar, limit, 4096);
    beyond->write64(0, 0x1111);
    EXPECT_EQ(beyond->read64(0), ~std::uint64_t{0});
    for (const auto& [from, to] : {std::pair{limit, Bytes{0}}, {Bytes{0}, limit}}) {
      first.copy(DmaOpcode::kDeviceToDevice, from, to);
      ASSERT_TRUE(first.copied());
      EXPECT_EQ(first.record().fault(), FaultCode::kDeviceAddress);
      EXPECT_EQ(first.read<abi::FaultAddress>().raw, limit);
      first.write(abi::FaultStatus::from_raw(3));
    }
    first.map_page(FunctionDriver::kVirtual + 2_MiB, limit);
    EXPECT_EQ(first.fill(FunctionDriver::kVirtual + 2_MiB, 0x1111), code(FaultCode::kPageTable));
    EXPECT_EQ(first.fault().address, FunctionDriver::kVirtual + 2_MiB);
    EXPECT_EQ(first.fault().vmid, FunctionDriver::kVmid);
    EXPECT_EQ(second.memory->read64(0), 0x2222U);
    EXPECT_EQ(second.fault().number, 0U);
  });
}

TEST(Functions, QueuesOfOneNumberReachTheirOwnProcess) {
  TwoFunctions card;
  card.run([&](platform::Platform& host) {
    FunctionDriver first(host, card.bdf(0)), second(host, card.bdf(1));
    const auto at = FunctionDriver::kPhysical;
    const auto a = first.map(abi::kMemoryBar, at, 4096), b = second.map(abi::kMemoryBar, at, 4096);
    EXPECT_EQ(first.fill(FunctionDriver::kVirtual, 0x1111), 0U);
    EXPECT_EQ(b->read32(0), 0U);
    EXPECT_EQ(second.fill(FunctionDriver::kVirtual, 0x2222), 0U);
    EXPECT_EQ(a->read32(0), 0x1111U);
    EXPECT_EQ(b->read32(0), 0x2222U);
    host.clock().sleep_until(host.clock().now() + 10_us);  // both handlers have ended
    EXPECT_EQ(first.queue_vector->count(), 1U);
    EXPECT_EQ(second.queue_vector->count(), 1U);
  });
}

TEST(Functions, InterruptsGoToTheFunctionWhoseCommandEnds) {
  TwoFunctions card;
  card.run([&](platform::Platform& host) {
    FunctionDriver first(host, card.bdf(0)), second(host, card.bdf(1));
    for (std::uint64_t i = 1; i <= 3; ++i) {
      second.copy(DmaOpcode::kDeviceToDevice, 0, 0x1000);
      EXPECT_TRUE(second.vector->wait_after(i - 1, host.clock().now() + 1_ms));
    }
    EXPECT_EQ(second.vector->count(), 3U);
    EXPECT_EQ(first.vector->count(), 0U);
    EXPECT_EQ(first.record().count(), 0U);
  });
}

// Both drivers number their cores from 0.
TEST(Functions, CoresOfADriverAreThoseOfItsShare) {
  const model::CorePartition partition({4, 5, 12, 13});
  EXPECT_EQ(partition.all()[0], 0x3030U);
  EXPECT_EQ(partition.of_card({0b0110, 0, 0, 0})[0], 0x1020U);
  EXPECT_EQ(partition.of_card({~std::uint64_t{0}, 0, 0, 0}), partition.all());
  EXPECT_EQ(partition.of_driver(12), 2U);
  const model::CorePartition all({0, 1, 2});
  EXPECT_EQ(all.of_card({0b1101, 0, 0, 0})[0], 0b0101U);
}

// The IOMMU knows who asks: the requester's id is the function's.
TEST(Functions, NeitherReachesHostMemoryOfTheOther) {
  TwoFunctions card;
  card.run([&](platform::Platform& host) {
    FunctionDriver first(host, card.bdf(0)), second(host, card.bdf(1));
    first.memory->write64(0, 0x1111);
    second.memory->write64(0, 0x2222);
    first.copy(DmaOpcode::kDeviceToHost, 0, second.data->bus().value + 4096);
    second.copy(DmaOpcode::kDeviceToHost, 0, second.data->bus().value);
    ASSERT_TRUE(first.copied() && second.copied());
    const bool same_bus = first.data->bus().value == second.data->bus().value;
    EXPECT_TRUE(same_bus || first.record().fault() == FaultCode::kHostAddress);
    EXPECT_EQ(second.record().fault(), FaultCode::kNone);
    EXPECT_EQ(second.data->load<std::uint64_t>(0), 0x2222U);
    EXPECT_EQ(second.data->load<std::uint64_t>(4096), 0U);
  });
}

}  // namespace
}  // namespace npu::test
