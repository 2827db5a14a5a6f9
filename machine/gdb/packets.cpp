// SPDX-License-Identifier: Apache-2.0
#include "machine/gdb/packets.hpp"

namespace npu::gdb {
namespace {

constexpr char kDigits[] = "0123456789abcdef";
constexpr char kInterruptByte = 3;
constexpr char kEscape = '}';
constexpr char kFlip = 0x20;

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::uint8_t sum(std::string_view text) {
  unsigned all = 0;
  for (const char c : text) all += static_cast<unsigned char>(c);
  return static_cast<std::uint8_t>(all);
}

std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == kEscape && i + 1 < text.size();
    plain += escaped ? static_cast<char>(text[++i] ^ kFlip) : text[i];
  }
  return plain;
}

}  // namespace

void PacketReader::feed(std::string_view bytes) {
  for (const char c : bytes) {
    switch (state_) {
      case State::kIdle:
        if (c == kInterruptByte) items_.push_back({Kind::kInterrupt, {}});
        if (c == '$') state_ = State::kText;
        break;
      case State::kText:
        if (c == '#') {
          state_ = State::kFirst;
        } else if (c == '$') {  // the one before was cut off
          text_.clear();
          too_long_ = false;
        } else if (text_.size() == kLongest) {
          too_long_ = true;
        } else {
          text_ += c;
        }
        break;
      case State::kFirst:
        first_ = c;
        state_ = State::kSecond;
        break;
      case State::kSecond: {
        const int high = digit(first_), low = digit(c);
        const bool right = high >= 0 && low >= 0 && sum(text_) == high * 16 + low;
        if (!right && !trusts_) too_long_ = true;
        end();
        break;
      }
    }
  }
}

void PacketReader::end() {
  items_.push_back({too_long_ ? Kind::kBad : Kind::kPacket, too_long_ ? "" : unescape(text_)});
  text_.clear();
  too_long_ = false;
  state_ = State::kIdle;
}

std::optional<PacketReader::Item> PacketReader::take() {
  if (items_.empty()) return std::nullopt;
  Item item = std::move(items_.front());
  items_.pop_front();
  return item;
}

bool PacketReader::take_interrupt() {
  if (!has_interrupt()) return false;
  items_.pop_front();
  return true;
}

std::string packet_of(std::string_view text) {
  std::string body;
  for (const char c : text) {
    if (c == '#' || c == '$' || c == kEscape || c == '*') {
      body += kEscape;
      body += static_cast<char>(c ^ kFlip);
    } else {
      body += c;
    }
  }
  const std::uint8_t check = sum(body);
  return "$" + body + "#" + kDigits[check >> 4] + kDigits[check & 15];
}

std::string hex(const void* data, std::size_t bytes) {
  const auto* const from = static_cast<const unsigned char*>(data);
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    text += kDigits[from[i] >> 4];
    text += kDigits[from[i] & 15];
  }
  return text;
}

std::string hex(std::string_view text) {
  return hex(text.data(), text.size());
}

std::optional<std::string> unhex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit(digits[i]), low = digit(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

std::optional<std::uint64_t> take_number(std::string_view& text) {
  constexpr std::size_t kMost = 16;
  std::uint64_t number = 0;
  std::size_t taken = 0;
  for (; taken < text.size() && digit(text[taken]) >= 0; ++taken) {
    if (taken == kMost) return std::nullopt;
    number = number << 4 | static_cast<unsigned>(digit(text[taken]));
  }
  if (taken == 0) return std::nullopt;
  text.remove_prefix(taken);
  return number;
}

bool take(std::string_view& text, std::string_view beginning) {
  if (text.substr(0, beginning.size()) != beginning) return false;
  text.remove_prefix(beginning.size());
  return true;
}

}  // namespace npu::gdb
