// SPDX-License-Identifier: Apache-2.0
// Packets of gdb's remote serial protocol: "$text#checksum", and numbers and bytes as hex digits in
// them. What comes in is anybody's: whatever is no packet is dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace npu::gdb {

// What has come from the other side, in order.
class PacketReader {
 public:
  static constexpr std::size_t kLongest = 0x4000;  // of a packet's text; longer ones are bad

  enum class Kind : std::uint8_t { kPacket, kBad, kInterrupt };  // kBad: to be sent again
  struct Item {
    Kind kind;
    std::string text;  // of a packet, without the escapes
  };
  void feed(std::string_view bytes);
  std::optional<Item> take();
  // The next one is an interrupt; takes it then.
  bool has_interrupt() const { return !items_.empty() && items_.front().kind == Kind::kInterrupt; }
  bool take_interrupt();
  // No checksums are sent or looked at any more.
  void trust() { trusts_ = true; }

 private:
  enum class State : std::uint8_t { kIdle, kText, kFirst, kSecond };
  void end();

  State state_ = State::kIdle;
  std::string text_;
  bool too_long_ = false, trusts_ = false;
  char first_ = 0;
  std::deque<Item> items_;
};

// With '$', escapes and checksum.
std::string packet_of(std::string_view text);

std::string hex(const void* data, std::size_t bytes);
std::string hex(std::string_view text);
// nullopt: not of pairs of digits.
std::optional<std::string> unhex(std::string_view digits);
// The number that `text` begins with, which loses it; nullopt: none, or more than 64 bits.
std::optional<std::uint64_t> take_number(std::string_view& text);
// Whether `text` begins with it; it loses it then.
bool take(std::string_view& text, std::string_view beginning);

}  // namespace npu::gdb
