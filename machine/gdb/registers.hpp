// SPDX-License-Identifier: Apache-2.0
// Registers of x86-64 as gdb numbers them: 0 to 15 rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8 to
// r15, 16 rip, 17 eflags, then segments, x87, xmm0 to xmm15 and mxcsr.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace npu::gdb {

inline constexpr unsigned kRbx = 1, kRbp = 6, kRsp = 7, kR12 = 12, kRip = 16;
inline constexpr unsigned kGeneral = 17;

// Where a program is that has called its port: what a function leaves as it was is known.
struct Context {
  std::array<std::uint64_t, kGeneral> value{};
  std::uint32_t known = 0;  // a bit for each

  void set(unsigned number, std::uint64_t to) {
    value[number] = to;
    known |= 1U << number;
  }
  bool empty() const { return known == 0; }
};

std::uint64_t general(const ucontext_t& from, unsigned number);
// What `g` answers: hex digits, "xx" for bytes that are not known.
std::string all_registers(const ucontext_t& from);
std::string all_registers(const Context& from);
// From what `G` brings: general registers alone are taken. False: too few.
bool set_registers(ucontext_t& to, std::string_view digits);
bool set_register(ucontext_t& to, std::uint64_t number, std::uint64_t value);
// For qXfer:features:read.
std::string target_description();

}  // namespace npu::gdb
