// SPDX-License-Identifier: Apache-2.0
// What an address space maps and holds, without page tables.
#include "driver/memory/mappings.hpp"

#include "driver/memory/held_memory.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

constexpr unsigned kVmid = 3, kOther = 4;
constexpr std::uint64_t kAt = 0x40'0000'0000;

class MappingsTest : public testing::Test {
 protected:
  // Two mappings of two pages each with a page between them, of memory that nothing else keeps.
  void SetUp() override {
    memory = held.create(4 * kPageSize, false).value();
    mappings.add(kAt, {2 * kPageSize, memory, 0, Access::kNone});
    mappings.add(kAt + 3 * kPageSize, {2 * kPageSize, memory, 2 * kPageSize, Access::kNone});
    ASSERT_THAT(held.release(memory), test::IsOk());
  }
  std::vector<std::uint64_t> pages_mapped() const {
    std::vector<std::uint64_t> pages;
    for (const auto& [at, mapping] : mappings) {
      for (Bytes page = 0; page < mapping.size; page += kPageSize) {
        pages.push_back((at + page - kAt) / kPageSize);
      }
    }
    return pages;
  }
  static PageRange pages(std::uint64_t first, std::uint64_t count) {
    return {kAt + first * kPageSize, count * kPageSize};
  }

  PhysicalMemory physical{64 * kPageSize};
  HeldMemory held{physical, kVmid};
  Mappings mappings{physical};
  MemoryHandle memory;
};

TEST_F(MappingsTest, AreFoundByAnyOfTheirAddresses) {
  EXPECT_EQ(mappings.find(kAt + 2 * kPageSize - 1)->first, kAt);
  EXPECT_EQ(mappings.find(kAt + 2 * kPageSize), mappings.end());
  EXPECT_EQ(mappings.first_in(pages(1, 1)), kAt);
  EXPECT_EQ(mappings.first_in(pages(2, 2)), kAt + 3 * kPageSize);
  EXPECT_EQ(mappings.first_in(pages(2, 1)), std::nullopt);
}

TEST_F(MappingsTest, AGapIsToldByItsFirstAddress) {
  EXPECT_EQ(mappings.first_gap(pages(0, 2)), std::nullopt);
  EXPECT_EQ(mappings.first_gap(pages(1, 3)), kAt + 2 * kPageSize);
  EXPECT_EQ(mappings.first_gap(pages(3, 3)), kAt + 5 * kPageSize);
}

TEST_F(MappingsTest, APartThatGoesLeavesTheRestWithItsOffsets) {
  mappings.remove(pages(1, 3));
  EXPECT_EQ(pages_mapped(), (std::vector<std::uint64_t>{0, 4}));
  EXPECT_EQ(mappings.find(kAt + 4 * kPageSize)->second.offset, 3 * kPageSize);
}

TEST_F(MappingsTest, AccessChangesForTheRangeAlone) {
  mappings.set_access(pages(1, 1), Access::kReadWrite);
  EXPECT_EQ(mappings.find(kAt)->second.access, Access::kNone);
  EXPECT_EQ(mappings.find(kAt + kPageSize)->second.access, Access::kReadWrite);
  EXPECT_EQ(pages_mapped(), (std::vector<std::uint64_t>{0, 1, 3, 4}));
}

TEST_F(MappingsTest, TheLastOneThatGoesFreesTheMemory) {
  mappings.remove(pages(0, 4));
  EXPECT_TRUE(mappings.has(memory));
  EXPECT_NE(physical.find(memory), nullptr);
  mappings.clear();
  EXPECT_FALSE(mappings.has(memory));
  EXPECT_EQ(physical.find(memory), nullptr);
}

TEST_F(MappingsTest, MemoryIsImportedOnceAndFromWhoHoldsIt) {
  HeldMemory other(physical, kOther);
  EXPECT_THAT(other.import(held, memory), test::FailsWith(ErrorCode::kInvalidArgument));
  const auto own = held.create(kPageSize, false).value();
  EXPECT_THAT(other.import(held, own), test::IsOk());
  EXPECT_TRUE(other.holds(own));
  EXPECT_THAT(other.import(held, own), test::FailsWith(ErrorCode::kAlreadyExists));
}

}  // namespace
}  // namespace npu::driver
