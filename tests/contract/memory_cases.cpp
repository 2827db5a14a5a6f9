// SPDX-License-Identifier: Apache-2.0
// BARs and DMA memory.
#include <gtest/gtest.h>
#include <array>

#include <cstring>
#include <vector>

#include "npu/base/checked.hpp"
#include "tests/contract/contract_case.hpp"
#include "tests/contract/raw_card.hpp"
#include "tests/support/matchers.hpp"

namespace npu::test {
namespace {

using platform::Caching;
using platform::DmaDirection;

void maps_outside_a_bar_are_refused(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto bdf = *environment.card();
  const auto map = [&](unsigned bar, Bytes offset, Bytes size) {
    return platform.map_bar(bdf, bar, offset, size, Caching::kUncached);
  };
  EXPECT_THAT(map(0, 0, abi::kBar0Size + 4096), FailsWith(ErrorCode::kOutOfRange));
  EXPECT_THAT(map(0, abi::kBar0Size, 4096), FailsWith(ErrorCode::kOutOfRange));
  EXPECT_THAT(map(0, ~Bytes{4095}, 8192), FailsWith(ErrorCode::kOutOfRange));
  EXPECT_FALSE(map(0, 0, 0).has_value());
  EXPECT_FALSE(map(0, 8, 4096).has_value());
  EXPECT_FALSE(map(0, 0, 100).has_value());
  EXPECT_THAT(map(5, 0, 4096), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(map(6, 0, 4096), FailsWith(ErrorCode::kNotFound));
}

void maps_of_an_absent_function_are_refused(ContractEnvironment& environment) {
  EXPECT_THAT(environment.platform().map_bar(environment.absent(), 0, 0, 4096, Caching::kUncached),
              FailsWith(ErrorCode::kNotFound));
}

void device_memory_reads_back_what_was_written(ContractEnvironment& environment) {
  const auto card = RawCard::open(environment.platform(), *environment.card());
  ASSERT_NE(card, nullptr);
  auto& memory = card->memory();
  for (Bytes i = 0; i < 512; i += 8) memory.write64(i, i * 0x0101'0101'0101'0101);
  memory.write32(4, 0xDEADBEEF);
  memory.write32(4, 0xCAFEF00D);  // the later of two posted writes wins
  EXPECT_EQ(memory.read64(0), 0xCAFEF00D'00000000);
  EXPECT_EQ(memory.read32(12), 0x08080808U);
  for (Bytes i = 8; i < 512; i += 8) EXPECT_EQ(memory.read64(i), i * 0x0101'0101'0101'0101);
}

void registers_keep_their_access_kind(ContractEnvironment& environment) {
  const auto card = RawCard::open(environment.platform(), *environment.card());
  ASSERT_NE(card, nullptr);
  auto& bar0 = card->registers();
  const auto chip = bar0.read32(0);
  bar0.write32(0, 0);
  EXPECT_EQ(bar0.read32(0), chip);
  bar0.write64(abi::EventRecordBase::kOffset, 0x12345'6789'A000);
  EXPECT_EQ(bar0.read64(abi::EventRecordBase::kOffset), 0x12345'6789'A000U);
  bar0.write32(abi::EventRecordBase::kOffset + 4, 7);
  EXPECT_EQ(bar0.read64(abi::EventRecordBase::kOffset), 0x7'6789'A000U);
  bar0.write64(abi::EventRecordBase::kOffset, 0);
}

void combined_writes_are_there_after_the_barrier(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto card = RawCard::open(platform, *environment.card());
  ASSERT_NE(card, nullptr);
  auto combining = must(
      platform.map_bar(*environment.card(), abi::kMemoryBar, 4096, 4096, Caching::kWriteCombining));
  EXPECT_EQ(combining->size(), 4096U);
  for (Bytes i = 0; i < 256; i += 8) combining->write64(i, i + 1);
  platform.write_barrier();
  for (Bytes i = 0; i < 256; i += 8) EXPECT_EQ(card->memory().read64(4096 + i), i + 1);
}

void dma_memory_is_zeroed_aligned_and_apart(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto bdf = *environment.card();
  auto first = platform.allocate_dma(bdf, 10'000, 64_KiB, DmaDirection::kBidirectional);
  auto second = platform.allocate_dma(bdf, 4096, 4096, DmaDirection::kBidirectional);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ((*first)->size(), 10'000U);
  EXPECT_TRUE(is_aligned((*first)->bus().value, 64_KiB));
  EXPECT_TRUE(is_aligned((*second)->bus().value, 4096));
  for (std::size_t i = 0; i < 10'000; ++i) ASSERT_EQ((*first)->cpu().data[i], std::byte{0});
  const auto a = (*first)->bus().value;
  const auto b = (*second)->bus().value;
  EXPECT_TRUE(a + 10'000 <= b || b + 4096 <= a);
}

void copies_reach_dma_memory_and_come_back(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  auto memory =
      must(platform.allocate_dma(*environment.card(), 10'000, 4096, DmaDirection::kBidirectional));
  std::vector<std::byte> there(9'001), back(9'001);
  for (std::size_t i = 0; i < there.size(); ++i) there[i] = static_cast<std::byte>(i * 7 + 1);
  const ByteSpan staged{memory->cpu().data + 3, there.size()};
  platform.copy(staged, {there.data(), there.size()});
  platform.copy({back.data(), back.size()}, {staged.data, staged.size});
  EXPECT_EQ(back, there);
  EXPECT_EQ(memory->cpu().data[2], std::byte{0});
  EXPECT_EQ(memory->cpu().data[9'004], std::byte{0});
  platform.copy({staged.data, 0}, {back.data(), 0});
  EXPECT_EQ(staged.data[0], there[0]);
}

void bad_dma_requests_are_refused(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto bdf = *environment.card();
  const auto allocate = [&](platform::Bdf where, Bytes size, Bytes alignment) {
    return platform.allocate_dma(where, size, alignment, DmaDirection::kBidirectional);
  };
  EXPECT_FALSE(allocate(bdf, 0, 4096).has_value());
  EXPECT_FALSE(allocate(bdf, 4096, 0).has_value());
  EXPECT_FALSE(allocate(bdf, 4096, 512).has_value());
  EXPECT_FALSE(allocate(bdf, 4096, 12'288).has_value());
  EXPECT_FALSE(allocate(bdf, Bytes{1} << 60, 4096).has_value());
  EXPECT_THAT(allocate(environment.absent(), 4096, 4096), FailsWith(ErrorCode::kNotFound));
}

void the_device_reads_and_writes_dma_memory(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto card = RawCard::open(platform, *environment.card());
  ASSERT_NE(card, nullptr);
  auto memory =
      must(platform.allocate_dma(*environment.card(), 4096, 4096, DmaDirection::kBidirectional));
  for (Bytes i = 0; i < 64; i += 8) memory->store<std::uint64_t>(i, 0xA5A5'0000'0000'0000 + i);
  const auto bus = memory->bus();
  card->submit(abi::DmaOpcode::kHostToDevice, bus.value, 0x2000);
  card->submit(abi::DmaOpcode::kDeviceToHost, 0x2000, bus.value + 128);
  ASSERT_TRUE(card->wait_done(100_ms));
  EXPECT_EQ(card->memory().read64(0x2008), 0xA5A5'0000'0000'0008U);
  EXPECT_EQ(std::memcmp(memory->cpu().data, memory->cpu().data + 128, 64), 0);
  EXPECT_EQ(memory->load<std::uint64_t>(192), 0U);
}

// What the device writes is in the caller's own memory, and what that has is what it reads.
void the_device_reaches_imported_memory(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto bdf = *environment.card();
  alignas(4096) static std::array<std::uint64_t, 1024> own;
  own.fill(0x5A5A);
  const ByteSpan span{reinterpret_cast<std::byte*>(own.data()), sizeof own};
  const auto direction = DmaDirection::kBidirectional;
  auto memory = platform.import_dma(bdf, span, direction, platform::HostPages::kResident);
  if (!memory && memory.error().code == ErrorCode::kUnsupported) return;
  ASSERT_THAT(memory, IsOk());
  EXPECT_EQ((*memory)->cpu().data, span.data);
  EXPECT_EQ((*memory)->bus().value % platform::kImportAlignment, 0U);
  const auto card = RawCard::open(platform, bdf);
  ASSERT_NE(card, nullptr);
  own[3] = 0x1234;
  platform.write_barrier();
  card->submit(abi::DmaOpcode::kHostToDevice, (*memory)->bus().value, 0x2000);
  card->submit(abi::DmaOpcode::kDeviceToHost, 0x2000, (*memory)->bus().value + 4096);
  ASSERT_TRUE(card->wait_done(100_ms));
  EXPECT_EQ(own[512 + 3], 0x1234U);
  EXPECT_EQ(own[512], 0x5A5AU);
  memory->reset();
  EXPECT_EQ(own[3], 0x1234U);
}

void bad_imports_are_refused(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  alignas(4096) static std::array<std::byte, 8192> own;
  const auto import = [&](platform::Bdf bdf, Bytes offset, Bytes size) {
    return platform.import_dma(bdf, {own.data() + offset, size}, DmaDirection::kBidirectional,
                               platform::HostPages::kResident);
  };
  const auto bdf = *environment.card();
  EXPECT_FALSE(import(bdf, 0, 0).has_value());
  EXPECT_FALSE(import(bdf, 8, 4096).has_value());
  EXPECT_FALSE(import(bdf, 0, 4095).has_value());
  EXPECT_FALSE(import(environment.absent(), 0, 4096).has_value());
}

void dma_memory_is_shared_with_functions_that_there_are(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto bdf = *environment.card();
  auto memory = must(platform.allocate_dma(bdf, 4096, 4096, DmaDirection::kBidirectional));
  const auto again = must(platform.share_dma(*memory, bdf));
  EXPECT_EQ(again, memory->bus());
  EXPECT_THAT(platform.share_dma(*memory, environment.absent()), FailsWith(ErrorCode::kNotFound));
}

}  // namespace

ContractCases memory_cases() {
  return {
      {"MapsOutsideABarAreRefused", true, maps_outside_a_bar_are_refused},
      {"MapsOfAnAbsentFunctionAreRefused", false, maps_of_an_absent_function_are_refused},
      {"DeviceMemoryReadsBackWhatWasWritten", true, device_memory_reads_back_what_was_written},
      {"RegistersKeepTheirAccessKind", true, registers_keep_their_access_kind},
      {"CombinedWritesAreThereAfterTheBarrier", true, combined_writes_are_there_after_the_barrier},
      {"DmaMemoryIsZeroedAlignedAndApart", true, dma_memory_is_zeroed_aligned_and_apart},
      {"CopiesReachDmaMemoryAndComeBack", true, copies_reach_dma_memory_and_come_back},
      {"BadDmaRequestsAreRefused", true, bad_dma_requests_are_refused},
      {"DmaMemoryIsSharedWithFunctionsThatThereAre", true,
       dma_memory_is_shared_with_functions_that_there_are},
      {"TheDeviceReachesImportedMemory", true, the_device_reaches_imported_memory},
      {"BadImportsAreRefused", true, bad_imports_are_refused},
      {"TheDeviceReadsAndWritesDmaMemory", true, the_device_reads_and_writes_dma_memory},
  };
}

}  // namespace npu::test
