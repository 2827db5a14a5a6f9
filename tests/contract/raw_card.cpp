// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/raw_card.hpp"

#include <gtest/gtest.h>

#include "tests/support/matchers.hpp"

namespace npu::test {

using platform::read_register;
using platform::write_register;

namespace {

void enable_function(platform::Platform& platform, platform::Bdf bdf) {
  auto& config = platform.pci();
  const auto command = config.read16(bdf, abi::pci::kCommand);
  config.write16(
      bdf, abi::pci::kCommand,
      static_cast<std::uint16_t>(command | abi::pci::kCommandMemory | abi::pci::kCommandBusMaster));
}

}  // namespace

std::unique_ptr<RawCard> RawCard::open(platform::Platform& platform, platform::Bdf bdf,
                                       unsigned vector) {
  std::unique_ptr<RawCard> card(new RawCard(platform));
  enable_function(platform, bdf);
  const auto uncached = platform::Caching::kUncached;
  auto registers = platform.map_bar(bdf, abi::kRegisterBar, 0, abi::kMsixTableOffset, uncached);
  auto memory = platform.map_bar(bdf, abi::kMemoryBar, 0, 64_KiB, uncached);
  auto ring = platform.allocate_dma(bdf, Bytes{abi::kRingEntries} * abi::kRingEntrySize, 4096,
                                    platform::DmaDirection::kDeviceReads);
  auto records = platform.allocate_dma(bdf, Bytes{abi::kMaxEvents} * 8, 4096,
                                       platform::DmaDirection::kDeviceWrites);
  EXPECT_THAT(registers, IsOk());
  EXPECT_THAT(memory, IsOk());
  EXPECT_THAT(ring, IsOk());
  EXPECT_THAT(records, IsOk());
  if (!registers || !memory || !ring || !records) return nullptr;
  card->registers_ = std::move(*registers);
  card->memory_ = std::move(*memory);
  card->ring_ = std::move(*ring);
  card->records_ = std::move(*records);
  auto& bar0 = *card->registers_;
  const auto windows = read_register<abi::StreamWindowBase>(bar0).raw;
  auto window = platform.map_bar(bdf, abi::kMemoryBar, windows, abi::kStreamWindowSize, uncached);
  EXPECT_THAT(window, IsOk());
  if (!window) return nullptr;
  card->window_ = std::move(*window);
  write_register(*card->window_, abi::StreamVector::from_raw(vector));
  write_register(*card->window_, abi::StreamControl::from_raw(1));
  EXPECT_EQ(read_register<abi::StreamControl>(*card->window_).raw, 1U);
  const abi::EventRecord before{bar0.read64(abi::event_register_offset(0))};
  card->base_count_ = before.count();
  card->records_->store<std::uint64_t>(0, before.raw);
  write_register(bar0, abi::EventRecordBase::from_raw(card->records_->bus().value));
  write_register(bar0, abi::DmaQueueBase::from_raw(card->ring_->bus().value));
  write_register(bar0, abi::DmaQueueControl::from_raw(3));  // Enable, HostMemory
  return card;
}

void RawCard::submit(abi::DmaOpcode opcode, std::uint64_t source, std::uint64_t destination) {
  abi::DmaEntry entry;
  entry.opcode = static_cast<std::uint8_t>(opcode);
  entry.flags = abi::kDmaFlagInterrupt;
  entry.set_source(source);
  entry.set_destination(destination);
  entry.event = 0;
  entry.set_size(64);
  std::memcpy(ring_->cpu().data + submitted_ % abi::kRingEntries * abi::kRingEntrySize, &entry,
              sizeof entry);
  platform_.write_barrier();
  ++submitted_;
  write_register(*registers_, abi::DmaDoorbell::from_raw(submitted_ % abi::kRingEntries));
}

bool RawCard::wait_done(Picoseconds timeout) {
  auto& clock = platform_.clock();
  const auto deadline = clock.now() + timeout;
  for (;;) {
    const abi::EventRecord record{records_->load<std::uint64_t>(0)};
    if (abi::event_reached(record.count(), base_count_ + submitted_)) return true;
    if (clock.now() >= deadline) return false;
    clock.relax(records_->cpu().subspan(0, 8), deadline);
  }
}

}  // namespace npu::test
