// SPDX-License-Identifier: Apache-2.0
// What functions of the C and C++ libraries take, which counted code calls and which do not count
// themselves: instructions of a call, and of each 2^shift bytes of its third argument.
#pragma once

#include <array>
#include <string_view>

namespace npu::counting {

struct LibraryCall {
  std::string_view symbol;
  unsigned instructions;
  unsigned shift;  // kNoBytes: no size among the arguments
};
inline constexpr unsigned kNoBytes = 64;

// Instructions of Debian 12's libraries on x86-64 under callgrind, of calls as driver and firmware
// make them: blocks of 16 to 256 bytes, an allocator that has a free block of that size.
inline constexpr std::array<LibraryCall, 16> kLibraryCalls{{
    {"memcpy", 14, 5},
    {"memmove", 14, 5},
    {"memset", 12, 5},
    {"memcmp", 12, 5},
    {"strlen", 14, kNoBytes},
    {"malloc", 70, kNoBytes},
    {"calloc", 110, kNoBytes},
    {"free", 45, kNoBytes},
    {"_Znwm", 75, kNoBytes},
    {"_ZdlPv", 50, kNoBytes},
    {"_ZdlPvm", 50, kNoBytes},
    {"SHA256_Update", 40, kNoBytes},
    {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm", 30, 5},
    {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm", 95, kNoBytes},
    {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_assignERKS4_", 40, kNoBytes},
    {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_replaceEmmPKcm", 60, kNoBytes},
}};

}  // namespace npu::counting
