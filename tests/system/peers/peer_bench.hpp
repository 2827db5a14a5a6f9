// SPDX-License-Identifier: Apache-2.0
// Opened cards with a block of known bytes each, and each other's blocks mapped.
#pragma once

#include <algorithm>

#include "tests/system/support/machine.hpp"

namespace npu::test {

using driver::DmaCommand;
using driver::ImportedAddress;
using driver::WaitPolicy;

struct PeerBenchCard {
  std::unique_ptr<driver::Device> device;
  driver::StreamId stream;
  driver::MemoryHandle memory;
  driver::DeviceAddress block;                 // on the card itself
  std::vector<driver::DeviceAddress> peers;    // the others' blocks, by card
  std::unique_ptr<platform::DmaMemory> bytes;  // of the host, as large as the block
};

class PeerBench {
 public:
  static constexpr Bytes kSize = 4_MiB;

  explicit PeerBench(platform::Platform& machine_host, unsigned count = 2)
      : host(machine_host), cards(count) {
    for (unsigned i = 0; i < count; ++i) {
      auto& card = cards[i];
      card.device = open_card(host, i);
      card.stream = must(card.device->create_stream());
      card.bytes = must(card.device->allocate_host(kSize));
      card.memory = must(space(i).create_memory(kSize));
      card.block = map(space(i), card.memory);
      fill(i, kSize, 0x10 + i);
    }
    for (unsigned i = 0; i < count; ++i) {
      cards[i].peers.resize(count);
      for (unsigned k = 0; k < count; ++k) {
        if (k == i) continue;
        const auto memory = must(space(i).import_memory(space(k), cards[k].memory));
        cards[i].peers[k] = map(space(i), memory);
      }
    }
  }

  driver::AddressSpace& space(unsigned card) { return cards[card].device->address_space(); }
  static driver::DeviceAddress map(driver::AddressSpace& space, driver::MemoryHandle memory) {
    const auto at = must(space.reserve(kSize));
    EXPECT_TRUE(space.map(at, kSize, memory));
    EXPECT_TRUE(space.set_access(at, kSize, driver::Access::kReadWrite));
    return at;
  }
  Instant deadline() { return host.clock().now() + 1_s; }
  Status copy(unsigned card, const DmaCommand& command) {
    return cards[card].device->copy(cards[card].stream, command, WaitPolicy::kAdaptive, deadline());
  }
  // The first `size` bytes of the card's block.
  void fill(unsigned card, Bytes size, unsigned value) {
    auto& bytes = *cards[card].bytes;
    std::fill_n(bytes.cpu().data, size, std::byte(value));
    EXPECT_TRUE(copy(card, DmaCommand::host_to_device(bytes.bus(), cards[card].block, size)));
  }
  // The card's block as it is now.
  ConstByteSpan look(unsigned card) {
    auto& bytes = *cards[card].bytes;
    std::fill_n(bytes.cpu().data, kSize, std::byte(0xEE));
    EXPECT_TRUE(copy(card, DmaCommand::device_to_host(cards[card].block, bytes.bus(), kSize)));
    return bytes.cpu();
  }
  // Whether [begin, end) of the card's block holds nothing but `value`; look() before.
  bool holds(unsigned card, Bytes begin, Bytes end, unsigned value) const {
    const auto* data = cards[card].bytes->cpu().data;
    return std::all_of(data + begin, data + end,
                       [value](std::byte b) { return b == std::byte(value); });
  }

  platform::Platform& host;
  std::vector<PeerBenchCard> cards;
};

inline const std::string kTwoCards = "system-2x910b2.yaml";

}  // namespace npu::test
