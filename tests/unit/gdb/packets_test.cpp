// SPDX-License-Identifier: Apache-2.0
#include "machine/gdb/packets.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace npu::gdb {
namespace {

using Kind = PacketReader::Kind;

std::vector<PacketReader::Item> all_of(PacketReader& reader) {
  std::vector<PacketReader::Item> items;
  while (auto item = reader.take()) items.push_back(std::move(*item));
  return items;
}

TEST(Packets, TheSumIsThatOfTheText) {
  // 'O' and 'K' are 0x4F and 0x4B.
  EXPECT_EQ(packet_of("OK"), "$OK#9a");
  EXPECT_EQ(packet_of(""), "$#00");
}

TEST(Packets, WhatEndsOrBeginsAPacketIsEscaped) {
  // '}' is 0x7D; '#' ^ 0x20 is 0x03.
  EXPECT_EQ(packet_of("#"), std::string("$}\x03#80"));
}

TEST(Packets, APacketInPiecesIsOne) {
  PacketReader reader;
  for (const char c : std::string("+$qC#b4")) reader.feed(std::string_view(&c, 1));
  const auto items = all_of(reader);
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].kind, Kind::kPacket);
  EXPECT_EQ(items[0].text, "qC");
}

TEST(Packets, AWrongSumIsBadUnlessSumsAreTrusted) {
  PacketReader reader;
  reader.feed("$qC#b5");
  EXPECT_EQ(all_of(reader).at(0).kind, Kind::kBad);
  reader.trust();
  reader.feed("$qC#b5");
  EXPECT_EQ(all_of(reader).at(0).text, "qC");
}

TEST(Packets, APacketThatIsTooLongIsBadAndTheNextOneIsRead) {
  PacketReader reader;
  reader.feed(packet_of(std::string(PacketReader::kLongest + 1, 'a')) + packet_of("g"));
  const auto items = all_of(reader);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].kind, Kind::kBad);
  EXPECT_EQ(items[1].text, "g");
}

TEST(Packets, AnInterruptIsTakenBetweenPacketsAlone) {
  PacketReader reader;
  reader.feed("\x03");
  EXPECT_TRUE(reader.take_interrupt());
  EXPECT_FALSE(reader.take_interrupt());
  reader.feed(
      "$X0,1:\x03#"
      "73");
  EXPECT_FALSE(reader.take_interrupt());
}

TEST(Packets, NumbersEndAtTheFirstOtherCharacter) {
  std::string_view text = "7fFf,4";
  EXPECT_EQ(take_number(text), 0x7FFFU);
  EXPECT_TRUE(take(text, ","));
  EXPECT_EQ(take_number(text), 4U);
  EXPECT_EQ(take_number(text), std::nullopt);
  text = "10000000000000000";  // 65 bits
  EXPECT_EQ(take_number(text), std::nullopt);
}

TEST(Packets, BytesAreTwoDigitsEach) {
  EXPECT_EQ(hex(std::string_view("\x01\xAB")), "01ab");
  EXPECT_EQ(unhex("01aB"), std::string("\x01\xAB"));
  EXPECT_EQ(unhex("0"), std::nullopt);
  EXPECT_EQ(unhex("0g"), std::nullopt);
}

TEST(Packets, RandomTextComesBackThroughRandomPieces) {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 2000; ++round) {
    std::string text(random() % 40, 0);
    for (auto& c : text) c = static_cast<char>(random());
    const std::string bytes = packet_of(text);
    PacketReader reader;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = 1 + random() % 7;
      reader.feed(std::string_view(bytes).substr(at, size));
      at += size;
    }
    const auto items = all_of(reader);
    ASSERT_EQ(items.size(), 1U);
    EXPECT_EQ(items[0].text, text);
  }
}

TEST(Packets, BehindRandomBytesTheNextPacketsAreRead) {
  std::mt19937 random(2);
  for (unsigned round = 0; round < 2000; ++round) {
    PacketReader reader;
    std::string bytes(random() % 100, 0);
    for (auto& c : bytes)
      c = "$#}+-\x03"
          "0aZ"[random() % 9];
    reader.feed(bytes);
    all_of(reader);
    // The first of them may end what was begun.
    reader.feed(packet_of("g") + packet_of("m0,4") + packet_of("?"));
    const auto items = all_of(reader);
    ASSERT_GE(items.size(), 2U);
    EXPECT_EQ(items.back().text, "?");
    EXPECT_EQ(items[items.size() - 2].text, "m0,4");
  }
}

}  // namespace
}  // namespace npu::gdb
