// SPDX-License-Identifier: Apache-2.0
// How a register is declared: once, as a type. Driver, model, fake, traces and documentation are
// all made from that type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace npu::abi {

enum class Access : std::uint8_t {
  kReadOnly,         // written by the device only; host writes are ignored
  kReadWrite,        // reads return the last value written
  kWriteOneToClear,  // set by the device; the host clears the bits it writes as one
};

constexpr std::string_view to_string(Access access) {
  switch (access) {
    case Access::kReadOnly:
      return "RO";
    case Access::kReadWrite:
      return "RW";
    case Access::kWriteOneToClear:
      return "RW1C";
  }
  return "?";
}

// Bits Hi..Lo (inclusive) of a register.
template <unsigned Hi, unsigned Lo>
struct Field {
  static_assert(Hi >= Lo && Hi < 64);
  static constexpr unsigned kLow = Lo;
  static constexpr unsigned kWidth = Hi - Lo + 1;
  static constexpr std::uint64_t kMask = (kWidth == 64 ? ~0ULL : (1ULL << kWidth) - 1) << Lo;
};

// What the register reference says of a field; see NPU_FIELD.
struct FieldInfo {
  std::string_view of;    // name of the register
  std::string_view name;  // empty: the field is the whole register
  unsigned high, low;     // bits, inclusive
  Access access;
  std::uint64_t reset;
  std::string_view unit;  // of a whole register; else empty
  std::string_view meaning;
};

// Tells the rows of one register's fields apart: each is an overload of field_row() for its lowest
// bit.
template <unsigned Low>
struct FieldAt {};

// A field of a register, declared once, in the register's type: the type `name` (kLow, kWidth,
// kMask; get<>() and set<>()) and the row of the reference come from it. `meaning` is one line. A
// second field with the same lowest bit does not compile; register_reference.hpp refuses others
// that overlap.
#define NPU_FIELD(name, high, low, meaning) NPU_FIELD_ROW(name, high, low, kAccess, meaning)
// One that only the device writes, of a register whose other fields the host may write.
#define NPU_READ_ONLY_FIELD(name, high, low, meaning) \
  NPU_FIELD_ROW(name, high, low, ::npu::abi::Access::kReadOnly, meaning)
// Of a register without fields: what its value is, in which unit.
#define NPU_VALUE(unit, meaning)                                                     \
  static constexpr ::npu::abi::FieldInfo field_row(::npu::abi::FieldAt<0>) {         \
    return {kName, {}, 8 * sizeof(raw_type) - 1, 0, kAccess, kReset, unit, meaning}; \
  }                                                                                  \
  using Value = ::npu::abi::Field<8 * sizeof(raw_type) - 1, 0>
// NOLINTBEGIN(bugprone-macro-parentheses): the name of a type has none around it.
#define NPU_FIELD_ROW(name, high, low, access, meaning)                                  \
  static constexpr ::npu::abi::FieldInfo field_row(::npu::abi::FieldAt<low>) {           \
    return {kName, #name, high, low, access, from_raw(kReset).get<name>(), {}, meaning}; \
  }                                                                                      \
  using name = ::npu::abi::Field<high, low>
// NOLINTEND(bugprone-macro-parentheses)

// Base of every register type. Self must declare `static constexpr std::string_view kName`, and
// either its fields (NPU_FIELD) or what its value is (NPU_VALUE). Offset is from the start of the
// register's block (see the header that lists it).
template <class Self, class Raw, std::uint32_t Offset, Access Mode, Raw Reset = 0>
struct Register {
  using raw_type = Raw;
  static_assert(sizeof(Raw) == 4 || sizeof(Raw) == 8);
  static_assert(Offset % sizeof(Raw) == 0, "a register is naturally aligned");
  static constexpr std::uint32_t kOffset = Offset;
  static constexpr Access kAccess = Mode;
  static constexpr Raw kReset = Reset;

  Raw raw = Reset;

  static constexpr Self from_raw(Raw value) {
    Self self;
    self.raw = value;
    return self;
  }
  template <class F>
  constexpr Raw get() const {
    static_assert(F::kLow + F::kWidth <= sizeof(Raw) * 8, "the field lies in the register");
    return static_cast<Raw>((raw & F::kMask) >> F::kLow);
  }
  template <class F>
  constexpr Self& set(Raw value) {
    static_assert(F::kLow + F::kWidth <= sizeof(Raw) * 8, "the field lies in the register");
    raw = static_cast<Raw>((raw & ~F::kMask) |
                           ((static_cast<std::uint64_t>(value) << F::kLow) & F::kMask));
    return static_cast<Self&>(*this);
  }
};

// One row of the table made from a list of register types.
struct RegisterInfo {
  std::string_view name;
  std::uint32_t offset;  // bytes
  std::uint32_t size;    // bytes, 4 or 8
  Access access;
  std::uint64_t reset;
};

template <class... Registers>
struct RegisterList {
  static constexpr std::size_t kCount = sizeof...(Registers);
};

template <class... Registers>
constexpr std::array<RegisterInfo, sizeof...(Registers)> make_table(RegisterList<Registers...>) {
  return {RegisterInfo{Registers::kName, Registers::kOffset,
                       static_cast<std::uint32_t>(sizeof(typename Registers::raw_type)),
                       Registers::kAccess, Registers::kReset}...};
}

// True if the table is sorted by offset and no two registers overlap.
template <std::size_t N>
constexpr bool is_sorted_without_overlap(const std::array<RegisterInfo, N>& table) {
  for (std::size_t i = 1; i < N; ++i) {
    if (table[i - 1].offset + table[i - 1].size > table[i].offset) return false;
  }
  return true;
}

}  // namespace npu::abi
