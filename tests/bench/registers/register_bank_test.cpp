// SPDX-License-Identifier: Apache-2.0
// Access rules, halves, runs and hooks of a block of registers.
#include "model/core/register_bank.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace npu::test {
namespace {

using abi::Access;

struct Plain : abi::Register<Plain, std::uint32_t, 0x00, Access::kReadWrite, 0x11> {
  static constexpr std::string_view kName = "PLAIN";
};
struct Fixed : abi::Register<Fixed, std::uint32_t, 0x04, Access::kReadOnly, 0x22> {
  static constexpr std::string_view kName = "FIXED";
};
struct Wide : abi::Register<Wide, std::uint64_t, 0x08, Access::kReadWrite, 0x3300000044> {
  static constexpr std::string_view kName = "WIDE";
};
struct Flags : abi::Register<Flags, std::uint32_t, 0x20, Access::kWriteOneToClear> {
  static constexpr std::string_view kName = "FLAGS";
};
constexpr auto kTable = abi::make_table(abi::RegisterList<Plain, Fixed, Wide, Flags>{});

template <class T>
T read(model::RegisterBank& bank, std::uint64_t offset) {
  T value{};
  EXPECT_TRUE(bank.host_read(offset, reinterpret_cast<unsigned char*>(&value), sizeof value));
  return value;
}
template <class T>
void write(model::RegisterBank& bank, std::uint64_t offset, T value) {
  EXPECT_TRUE(bank.host_write(offset, reinterpret_cast<unsigned char*>(&value), sizeof value));
}

TEST(RegisterBank, StartsWithAndResetsToTheTablesValues) {
  model::RegisterBank bank(kTable);
  EXPECT_EQ(read<std::uint32_t>(bank, 0x00), 0x11u);
  EXPECT_EQ(read<std::uint64_t>(bank, 0x08), 0x3300000044u);
  write<std::uint32_t>(bank, 0x00, 5);
  bank.reset();
  EXPECT_EQ(read<std::uint32_t>(bank, 0x00), 0x11u);
}

TEST(RegisterBank, HostCannotWriteReadOnly) {
  model::RegisterBank bank(kTable);
  bool called = false;
  bank.on_write<Fixed>([&](Fixed) { called = true; });
  write<std::uint32_t>(bank, 0x04, 0xFFFFFFFF);
  EXPECT_EQ(read<std::uint32_t>(bank, 0x04), 0x22u);
  EXPECT_FALSE(called);
  bank.set(Fixed::from_raw(7));
  EXPECT_EQ(read<std::uint32_t>(bank, 0x04), 7u) << "the device can";
}

TEST(RegisterBank, WritingOnesClears) {
  model::RegisterBank bank(kTable);
  bank.set(Flags::from_raw(0b1011));
  write<std::uint32_t>(bank, 0x20, 0b0010);
  EXPECT_EQ(read<std::uint32_t>(bank, 0x20), 0b1001u);
}

TEST(RegisterBank, HalvesOfAWideRegister) {
  model::RegisterBank bank(kTable);
  std::vector<std::uint64_t> seen;
  bank.on_write<Wide>([&](Wide w) { seen.push_back(w.raw); });
  write<std::uint32_t>(bank, 0x0C, 0xAA);
  write<std::uint32_t>(bank, 0x08, 0xBB);
  write<std::uint64_t>(bank, 0x08, 0xCC'0000'00DD);
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{0xAA'0000'0044, 0xAA'0000'00BB, 0xCC'0000'00DD}));
  EXPECT_EQ(read<std::uint32_t>(bank, 0x0C), 0xCCu);
  EXPECT_EQ(read<std::uint32_t>(bank, 0x08), 0xDDu);
}

TEST(RegisterBank, EightBytesOverTwoNarrowRegistersReachBoth) {
  model::RegisterBank bank(kTable);
  EXPECT_EQ(read<std::uint64_t>(bank, 0x00), 0x22'0000'0011u);
  write<std::uint64_t>(bank, 0x00, 0x66'0000'0055);
  EXPECT_EQ(read<std::uint64_t>(bank, 0x00), 0x22'0000'0055u);
}

TEST(RegisterBank, UnknownOffsetsReadZeroAndIgnoreWrites) {
  model::RegisterBank bank(kTable);
  write<std::uint32_t>(bank, 0x18, 1);
  write<std::uint32_t>(bank, 0x1000, 1);
  EXPECT_EQ(read<std::uint32_t>(bank, 0x18), 0u);
  EXPECT_EQ(read<std::uint64_t>(bank, 0x1000), 0u);
}

TEST(RegisterBank, MisalignedAccessesDoNothing) {
  model::RegisterBank bank(kTable);
  unsigned char data[4] = {9, 9, 9, 9};
  EXPECT_FALSE(bank.host_write(2, data, 4));
  EXPECT_FALSE(bank.host_write(0, data, 2));
  EXPECT_FALSE(bank.host_read(1, data, 4));
  EXPECT_EQ(read<std::uint32_t>(bank, 0x00), 0x11u);
}

TEST(RegisterBank, ReadHookGivesTheContent) {
  model::RegisterBank bank(kTable);
  std::uint64_t count = 0xFF'FFFF'FFFF;
  bank.on_read<Wide>([&] { return Wide::from_raw(++count); });
  EXPECT_EQ(read<std::uint64_t>(bank, 0x08), 0x100'0000'0000u);
  EXPECT_EQ(read<std::uint32_t>(bank, 0x0C), 0x100u);
}

}  // namespace
}  // namespace npu::test
