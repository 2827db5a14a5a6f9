// SPDX-License-Identifier: Apache-2.0
#include "machine/gdb/registers.hpp"

#include <cstring>

#include "machine/gdb/packets.hpp"

namespace npu::gdb {
namespace {

constexpr std::array<int, kGeneral> kPlaces{REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
                                            REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                            REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
constexpr unsigned kFlags = 17, kOriginal = 57;  // of a call of the system's: there is none
constexpr std::size_t kBehindFlags = 6 * 4 + 8 * 10 + 8 * 4;  // segments and x87
constexpr std::size_t kXmmBytes = 16 * 16;
constexpr char kNoCall[] = "ffffffffffffffff";

greg_t& place(ucontext_t& context, unsigned number) {
  return context.uc_mcontext.gregs[kPlaces[number]];
}

std::string unknown(std::size_t bytes) {
  return std::string(2 * bytes, 'x');
}

std::string register_line(const char* name, const char* bits, const char* type) {
  return std::string("<reg name=\"") + name + "\" bitsize=\"" + bits + "\" type=\"" + type + "\"/>";
}

}  // namespace

std::uint64_t general(const ucontext_t& from, unsigned number) {
  return static_cast<std::uint64_t>(from.uc_mcontext.gregs[kPlaces[number]]);
}

std::string all_registers(const ucontext_t& from) {
  std::string text;
  for (unsigned i = 0; i < kGeneral; ++i) {
    const auto value = general(from, i);
    text += hex(&value, sizeof value);
  }
  const auto flags = static_cast<std::uint32_t>(from.uc_mcontext.gregs[REG_EFL]);
  text += hex(&flags, sizeof flags) + unknown(kBehindFlags);
  const auto* const vectors = from.uc_mcontext.fpregs;
  if (vectors == nullptr) return text + unknown(kXmmBytes + sizeof(std::uint32_t)) + kNoCall;
  return text + hex(&vectors->_xmm, kXmmBytes) + hex(&vectors->mxcsr, sizeof vectors->mxcsr) +
         kNoCall;
}

std::string all_registers(const Context& from) {
  std::string text;
  for (unsigned i = 0; i < kGeneral; ++i) {
    const bool known = (from.known >> i & 1) != 0;
    text += known ? hex(&from.value[i], sizeof from.value[i]) : unknown(sizeof from.value[i]);
  }
  return text + unknown(4 + kBehindFlags + kXmmBytes + 4) + kNoCall;
}

bool set_registers(ucontext_t& to, std::string_view digits) {
  constexpr std::size_t kDigits = 16;
  if (digits.size() < kGeneral * kDigits) return false;
  for (unsigned i = 0; i < kGeneral; ++i) {
    const auto bytes = unhex(digits.substr(i * kDigits, kDigits));
    if (bytes) std::memcpy(&place(to, i), bytes->data(), bytes->size());
  }
  return true;
}

bool set_register(ucontext_t& to, std::uint64_t number, std::uint64_t value) {
  if (number < kGeneral) {
    place(to, static_cast<unsigned>(number)) = static_cast<greg_t>(value);
    return true;
  }
  return number == kFlags || number == kOriginal;  // they stay as they are
}

std::string target_description() {
  constexpr std::array<const char*, kGeneral> kNames{"rax", "rbx", "rcx", "rdx", "rsi", "rdi",
                                                     "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                                     "r12", "r13", "r14", "r15", "rip"};
  std::string text =
      "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target>"
      "<architecture>i386:x86-64</architecture><osabi>GNU/Linux</osabi>"
      "<feature name=\"org.gnu.gdb.i386.core\">";
  for (const char* const name : kNames) {
    const std::string_view word = name;
    const bool code = word == "rip", data = word == "rbp" || word == "rsp";
    text += register_line(name, "64", code ? "code_ptr" : data ? "data_ptr" : "int64");
  }
  for (const char* const name : {"eflags", "cs", "ss", "ds", "es", "fs", "gs"}) {
    text += register_line(name, "32", "int32");
  }
  for (unsigned i = 0; i < 8; ++i) {
    text += register_line(("st" + std::to_string(i)).c_str(), "80", "i387_ext");
  }
  for (const char* const name :
       {"fctrl", "fstat", "ftag", "fiseg", "fioff", "foseg", "fooff", "fop"}) {
    text += register_line(name, "32", "int");
  }
  text +=
      "</feature><feature name=\"org.gnu.gdb.i386.sse\">"
      "<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/>"
      "<vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>"
      "<vector id=\"v4i\" type=\"int32\" count=\"4\"/><vector id=\"v2i\" type=\"int64\" "
      "count=\"2\"/>"
      "<union id=\"vec128\"><field name=\"v4_float\" type=\"v4f\"/>"
      "<field name=\"v2_double\" type=\"v2d\"/><field name=\"v4_int32\" type=\"v4i\"/>"
      "<field name=\"v2_int64\" type=\"v2i\"/><field name=\"uint128\" type=\"uint128\"/></union>";
  for (unsigned i = 0; i < 16; ++i) {
    text += register_line(("xmm" + std::to_string(i)).c_str(), "128", "vec128");
  }
  // Without it gdb takes the system for none, and asks for no libraries.
  return text + register_line("mxcsr", "32", "int") +
         "</feature><feature name=\"org.gnu.gdb.i386.linux\">" +
         register_line("orig_rax", "64", "int") + "</feature></target>";
}

}  // namespace npu::gdb
