// SPDX-License-Identifier: Apache-2.0
// What functions of libraries take that counted code calls and that do not count themselves:
// instructions of a call, and of each 16 bytes of its size.
#pragma once

#include <array>
#include <string_view>

namespace npu::counting {

struct LibraryCall {
  std::string_view symbol;
  unsigned instructions;
  unsigned of_16_bytes;
  std::string_view size;  // the register of the argument that says how many bytes; empty: none does
};

// Debian 12 on x86-64 under callgrind: copies, sets and comparisons of 16 to 4096 bytes within a
// quarter; allocation with a free block of that size, release between that of a block that its
// thread keeps (52) and of one that goes back to the heap (100); a string's growth with what it
// allocates; nodes of maps of some hundred elements; functions of reals for sizes below 1.9.
// Assumed: two instructions per byte of SHA-256, as processors with instructions for it need;
// callgrind, which has none, sees 28.
inline constexpr std::array<LibraryCall, 40> kLibraryCalls{{
    {"memcpy", 10, 1, "%rdx"},
    {"memmove", 10, 1, "%rdx"},
    {"memset", 10, 1, "%rdx"},
    {"memcmp", 12, 2, "%rdx"},
    {"strlen", 12, 0, {}},
    {"malloc", 75, 0, {}},
    {"free", 48, 0, {}},
    {"_Znwm", 95, 0, {}},
    {"_ZnwmRKSt9nothrow_t", 95, 0, {}},
    {"_ZdlPv", 80, 0, {}},
    {"_ZdlPvm", 80, 0, {}},
    {"_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_", 50, 0, {}},
    {"_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_", 43, 0, {}},
    {"_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base", 14, 0, {}},
    {"_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base", 14, 0, {}},
    {"_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base", 24, 0, {}},
    {"EVP_Digest", 2000, 32, "%rsi"},
    {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm", 70, 1, "%rdx"},
    {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm", 110, 0, {}},
    {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_disposeEv", 60, 0, {}},
    {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_replaceEmmPKcm", 70, 0, {}},
    {"exp", 52, 0, {}},
    {"log", 52, 0, {}},
    {"sin", 68, 0, {}},
    {"cos", 67, 0, {}},
    {"tan", 72, 0, {}},
    {"asin", 59, 0, {}},
    {"acos", 65, 0, {}},
    {"atan", 59, 0, {}},
    {"sinh", 100, 0, {}},
    {"cosh", 69, 0, {}},
    {"tanh", 92, 0, {}},
    {"asinh", 95, 0, {}},
    {"acosh", 88, 0, {}},
    {"atanh", 99, 0, {}},
    {"pow", 132, 0, {}},
    {"fmod", 98, 0, {}},
    {"ldexp", 55, 0, {}},
    {"ilogb", 29, 0, {}},
    {"nearbyint", 6, 0, {}},
}};

}  // namespace npu::counting
