// SPDX-License-Identifier: Apache-2.0
// A card of 32 pages of 2 MiB, filled with blocks, for compaction one can draw on paper.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "npu/abi/registers.hpp"
#include "tests/driver/space_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {

class SmallCardTest : public testing::Test {
 protected:
  static constexpr Bytes kPages = 32;

  void SetUp() override {
    test::FakeCardConfig config;
    config.hbm_size = kPages * kPageSize;
    config.bar2_size = 256_MiB;
    card = &fake.add_card(config);
    DeviceOptions options;
    options.compaction_timeout = 1_ms;
    options.ready_timeout = 1_ms;
    auto opened = must(Device::open(fake, config.bdf, options));
    device = std::move(opened);
  }
  // One letter per page from the lowest on: a run of one letter is a block, '.' is free, 'P' is
  // pinned, and so is what follows the picture. Every page holds a word of its own.
  void lay_out(std::string_view picture) {
    std::string letters(picture);
    letters.resize(kPages, 'P');
    std::map<std::uint64_t, DeviceAddress> single;  // by place
    while (const auto page = device->allocate(kPageSize)) {
      single[physical(page->address)] = page->address;
    }
    ASSERT_EQ(single.size(), kPages);
    for (std::size_t begin = 0, end = 0; begin < kPages; begin = end) {
      end = std::min(letters.find_first_not_of(letters[begin], begin), letters.size());
      if (letters[begin] == '.') continue;
      for (auto i = begin; i < end; ++i) ASSERT_THAT(device->free(single[i * kPageSize]), IsOk());
      ASSERT_NO_FATAL_FAILURE(place(letters[begin], begin, end - begin));
    }
    for (std::size_t i = 0; i < kPages; ++i) {
      if (letters[i] != '.') continue;
      ASSERT_THAT(device->free(single[i * kPageSize]), IsOk());
    }
    stream = *device->create_stream();
  }
  // Where nothing else is free.
  void place(char letter, std::size_t page, std::size_t pages) {
    MemoryOptions options;
    options.pinned = letter == 'P';
    const auto block = must(device->allocate(pages * kPageSize, options));
    blocks[letter] = block.address;
    occupied += pages * kPageSize;
    for (std::size_t i = 0; i < pages; ++i) {
      ASSERT_EQ(physical(block.address + i * kPageSize), (page + i) * kPageSize) << letter;
      put(block.address + i * kPageSize, mark(letter, i));
    }
  }
  static std::uint64_t mark(char letter, std::size_t page) {
    return static_cast<std::uint64_t>(letter) << 8 | page;
  }
  // As the card's MMU sees it; every use makes it keep the translation.
  std::uint64_t physical(DeviceAddress at) {
    return card->mmu().locate(device->address_space().vmid(), at.value).value_or(~0ULL);
  }
  void put(DeviceAddress at, std::uint64_t value) {
    card->memory().write(physical(at), &value, sizeof value);
  }
  std::uint64_t get(DeviceAddress at) {
    std::uint64_t value = 0;
    card->memory().read(physical(at), &value, sizeof value);
    return value;
  }
  void expect_intact(char letter, std::size_t pages) {
    for (std::size_t i = 0; i < pages; ++i) {
      EXPECT_EQ(get(blocks[letter] + i * kPageSize), mark(letter, i)) << letter << i;
    }
  }
  // Takes all that is free and writes all over it.
  void fill_free_memory() {
    for (auto now = device->memory_statistics(); now.free > 0; now = device->memory_statistics()) {
      const auto block = must(device->allocate(kPageSize));
      put(block.address, ~0ULL);
    }
  }
  // What the picture's blocks take, is free and is in quarantine, is the card.
  void expect_sum() {
    const auto now = device->memory_statistics();
    EXPECT_EQ(now.free + now.quarantined + occupied, kPages * kPageSize);
    EXPECT_EQ(now.used(), occupied);
  }
  void unstick_invalidation() {
    card->behaviour.invalidate_stuck = false;
    card->set_register(abi::MmuInvalidate::kOffset, 4, 0);
  }
  Instant in(Picoseconds time) { return fake.scheduler.now() + time; }

  test::FakePlatform fake;
  test::FakeCard* card = nullptr;
  std::unique_ptr<Device> device;
  std::map<char, DeviceAddress> blocks;
  StreamId stream;
  Bytes occupied = 0;  // by the picture's blocks
};

}  // namespace npu::driver
