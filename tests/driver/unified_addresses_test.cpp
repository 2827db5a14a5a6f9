// SPDX-License-Identifier: Apache-2.0
// Addresses of a program over several cards.
#include "npu/driver/unified_addresses.hpp"

#include "driver/managed/managed_window.hpp"
#include "tests/driver/peer_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class UnifiedAddressesTest : public PeerTest {
 protected:
  std::unique_ptr<AddressSpace> open(unsigned card, const std::shared_ptr<UnifiedAddresses>& of) {
    auto space = devices[card]->create_address_space({}, {}, of);
    EXPECT_THAT(space, IsOk());
    return std::move(*space);
  }
  const std::shared_ptr<UnifiedAddresses> program = UnifiedAddresses::make();
};

TEST_F(UnifiedAddressesTest, AnAddressSaysWhichCardOfTheProgramItIsOn) {
  const auto a = open(0, program), b = open(1, program), c = open(2, program);
  const auto at_a = a->allocate(kPageSize)->address, at_b = b->allocate(kPageSize)->address;
  EXPECT_NE(at_a.value, at_b.value);
  EXPECT_FALSE(b->range_of(at_a));
  EXPECT_FALSE(c->range_of(at_a));
  EXPECT_FALSE(a->range_of(at_b));
  EXPECT_TRUE(a->range_of(at_a));
}

TEST_F(UnifiedAddressesTest, WithoutOneCardsHaveTheSameAddresses) {
  const auto a = open(0, nullptr), b = open(1, nullptr);
  EXPECT_EQ(a->allocate(kPageSize)->address.value, b->allocate(kPageSize)->address.value);
}

TEST_F(UnifiedAddressesTest, SpacesOfACardStayApartWhoeverTheyAreOf) {
  const auto other = UnifiedAddresses::make();
  std::vector<std::unique_ptr<AddressSpace>> spaces;
  spaces.push_back(open(0, program));
  spaces.push_back(open(1, program));
  for (int i = 0; i < 6; ++i) spaces.push_back(open(1, i % 2 == 0 ? other : nullptr));
  std::set<std::uint64_t> windows;
  for (std::size_t i = 1; i < spaces.size(); ++i) {
    const auto at = must(spaces[i]->allocate(kPageSize));
    EXPECT_TRUE(windows.insert(at.address.value >> 43).second);
  }
}

TEST_F(UnifiedAddressesTest, AWindowIsFreeAgainWithItsSpace) {
  auto a = open(0, program);
  const auto first = a->allocate(kPageSize)->address;
  a.reset();
  const auto b = open(1, program);
  EXPECT_EQ(b->allocate(kPageSize)->address.value, first.value);
}

TEST_F(UnifiedAddressesTest, ManagedMemoriesOfAProgramShareOneWindow) {
  ManagedWindow one(program), two(program), foreign(nullptr);
  const auto a = *one.reserve(8 * kPageSize), b = *two.reserve(8 * kPageSize);
  EXPECT_NE(a, b);
  EXPECT_EQ(*foreign.reserve(8 * kPageSize), a);
  EXPECT_THAT(two.reserve_at(a, kPageSize), FailsWith(ErrorCode::kAlreadyExists));
  one.release(a);
  EXPECT_THAT(two.reserve_at(a, 8 * kPageSize), IsOk());
}

TEST_F(UnifiedAddressesTest, WhatAManagedMemoryLeavesIsGivenBack) {
  std::uint64_t first = 0;
  {
    ManagedWindow left(program);
    first = *left.reserve(kPageSize);
  }
  ManagedWindow next(program);
  EXPECT_EQ(*next.reserve(kPageSize), first);
}

TEST_F(UnifiedAddressesTest, ManagedMemoryLeavesAddressesToAParentsBytes) {
  EXPECT_THAT(program->keep_managed(3 * kPageSize), IsOk());
  ManagedWindow own(program);
  const auto at = *own.reserve(kPageSize);
  EXPECT_GE(at, 0x900'0000'0000U + 3 * kPageSize);
  EXPECT_THAT(program->keep_managed(kPageSize), FailsWith(ErrorCode::kOutOfResources));
}

// Plain memory, which its space maps and does not hold, is lent to another card.
TEST_F(UnifiedAddressesTest, PlainMemoryIsReachedByAnotherCard) {
  const auto at = must(space(1).allocate(kPageSize));
  const auto range = space(1).range_of(at.address);
  const auto borrowed = must(space(0).import_memory(space(1), range->memory));
  const auto here = map(space(0), borrowed, kPageSize);
  const auto own = space(0).allocate(kPageSize)->address;
  put(0, own, 42);
  EXPECT_EQ(copy(own, here), abi::FaultCode::kNone);
  EXPECT_EQ(get(1, at.address), 42U);
}

}  // namespace
}  // namespace npu::driver
