// SPDX-License-Identifier: Apache-2.0
#include "kernels/counting/flags.hpp"

#include <algorithm>
#include <array>

namespace npu::counting {
namespace {

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

// Those with a suffix for the size of integers, which their namesakes for vectors have not. Shifts,
// inc and dec are not here: they may leave flags as they were.
constexpr std::array<std::string_view, 14> kSized{"add",  "sub", "and",  "or",     "xor",
                                                  "neg",  "cmp", "test", "imul",   "mul",
                                                  "idiv", "div", "xadd", "cmpxchg"};
constexpr std::array<std::string_view, 10> kUnsized{
    "ucomiss", "ucomisd", "comiss", "comisd", "popcnt", "bsf", "bsr", "tzcnt", "lzcnt", "call"};

bool is_sized(std::string_view mnemonic, std::string_view base) {
  return mnemonic.size() == base.size() + 1 && begins(mnemonic, base) &&
         std::string_view("bwlq").find(mnemonic.back()) != std::string_view::npos;
}

}  // namespace

Flags flags_of(std::string_view mnemonic, std::string_view operands) {
  if (mnemonic == "lock") {
    const auto end = std::min(operands.find_first_of(" \t"), operands.size());
    return flags_of(operands.substr(0, end), {});
  }
  if (mnemonic == "jmp" || mnemonic == "ret") return Flags::kLeaves;
  for (const std::string_view reader : {"j", "set", "cmov", "fcmov", "pushf", "lahf", "cmc"}) {
    if (begins(mnemonic, reader)) return Flags::kReads;
  }
  for (const std::string_view reader : {"adc", "sbb", "rcl", "rcr"}) {
    if (is_sized(mnemonic, reader)) return Flags::kReads;
  }
  const bool sized = std::any_of(kSized.begin(), kSized.end(), [mnemonic](std::string_view base) {
    return is_sized(mnemonic, base);
  });
  const bool unsized = std::any_of(
      kUnsized.begin(), kUnsized.end(),
      [mnemonic](std::string_view base) { return mnemonic == base || is_sized(mnemonic, base); });
  return sized || unsized ? Flags::kWrites : Flags::kLeaves;
}

}  // namespace npu::counting
