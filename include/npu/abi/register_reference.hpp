// SPDX-License-Identifier: Apache-2.0
// All registers with their fields, for who lists them (`npusim registers`). Everything here is made
// from the types of the registers (register.hpp); drivers and models need none of it.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "npu/abi/control_window.hpp"
#include "npu/abi/core_registers.hpp"
#include "npu/abi/event.hpp"
#include "npu/abi/registers.hpp"
#include "npu/abi/stream.hpp"

namespace npu::abi {

// Whether the register has a field whose lowest bit is Low.
template <class R, unsigned Low, class = void>
struct HasField : std::false_type {};
template <class R, unsigned Low>
struct HasField<R, Low, std::void_t<decltype(R::field_row(FieldAt<Low>{}))>> : std::true_type {};

// Fields of a register, or 1 for its value.
template <class R, unsigned... Low>
constexpr std::size_t count_fields(std::integer_sequence<unsigned, Low...>) {
  return (std::size_t{0} + ... + (HasField<R, Low>::value ? 1 : 0));
}
template <class R>
inline constexpr std::size_t kFieldsOf =
    count_fields<R>(std::make_integer_sequence<unsigned, 8 * sizeof(typename R::raw_type)>{});

template <class R, unsigned Low, std::size_t N>
constexpr void add_field(std::array<FieldInfo, N>& rows, std::size_t& count) {
  if constexpr (HasField<R, Low>::value) rows[count++] = R::field_row(FieldAt<Low>{});
}
template <class R, std::size_t N, unsigned... Low>
constexpr void add_fields(std::array<FieldInfo, N>& rows, std::size_t& count,
                          std::integer_sequence<unsigned, Low...>) {
  static_assert(kFieldsOf<R> != 0, "the register has fields, or says what its value is");
  (add_field<R, Low>(rows, count), ...);
}

// The fields of all registers of a list, in the order of the list and of their bits.
template <class... Registers>
constexpr auto make_fields(RegisterList<Registers...>) {
  std::array<FieldInfo, (std::size_t{0} + ... + kFieldsOf<Registers>)> rows{};
  std::size_t count = 0;
  (add_fields<Registers>(
       rows, count,
       std::make_integer_sequence<unsigned, 8 * sizeof(typename Registers::raw_type)>{}),
   ...);
  return rows;
}

// True if no two fields of a register share a bit; rows as make_fields() orders them.
template <std::size_t N>
constexpr bool are_fields_disjoint(const std::array<FieldInfo, N>& rows) {
  for (std::size_t i = 1; i < N; ++i) {
    if (rows[i - 1].of == rows[i].of && rows[i - 1].high >= rows[i].low) return false;
  }
  return true;
}

using EventRegisters = RegisterList<EventRegister>;
inline constexpr auto kEventTable = make_table(EventRegisters{});

inline constexpr auto kBar0Fields = make_fields(Bar0Registers{});
inline constexpr auto kEventFields = make_fields(EventRegisters{});
inline constexpr auto kStreamFields = make_fields(StreamRegisters{});
inline constexpr auto kCoreFields = make_fields(CoreRegisters{});
inline constexpr auto kControlFields = make_fields(ControlRegisters{});
static_assert(are_fields_disjoint(kBar0Fields) && are_fields_disjoint(kEventFields) &&
              are_fields_disjoint(kStreamFields) && are_fields_disjoint(kCoreFields) &&
              are_fields_disjoint(kControlFields));

// Registers that lie together.
struct RegisterBlock {
  std::string_view title;
  const RegisterInfo *begin, *end;
  const FieldInfo *fields, *fields_end;
};

template <std::size_t N, std::size_t M>
constexpr RegisterBlock block(std::string_view title, const std::array<RegisterInfo, N>& table,
                              const std::array<FieldInfo, M>& fields) {
  return {title, table.data(), table.data() + N, fields.data(), fields.data() + M};
}
inline constexpr std::array<RegisterBlock, 5> kRegisterBlocks = {
    block("BAR0: offsets from its start", kBar0Table, kBar0Fields),
    block("event in BAR0: one at 0x2000 + 8 id", kEventTable, kEventFields),
    block("stream window in BAR2: offsets from the start of the window", kStreamTable,
          kStreamFields),
    block("window of an AI Core, for AICPUs: offsets from the start of the window", kCoreRegisters,
          kCoreFields),
    block("window of the control processor, for its program: offsets from the start of the window",
          kControlTable, kControlFields)};

}  // namespace npu::abi
