// SPDX-License-Identifier: Apache-2.0
// What each block adds, against assembly typed by hand.
#include "counting/rewriter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace npu::counting {
namespace {

constexpr const char* kMark = "\tcall\t__sanitizer_cov_trace_pc@PLT\n";

std::string function(const std::string& body) {
  return "f:\n\t.cfi_startproc\n" + body + "\t.cfi_endproc\n";
}

// The amounts that are added to the counter, in order.
std::vector<std::string> additions(const std::string& assembly) {
  const std::string text = count_instructions(assembly);
  std::vector<std::string> found;
  const std::string tail = ", npu_instructions(%rip)";
  for (auto at = text.find(tail); at != std::string::npos; at = text.find(tail, at + 1)) {
    const auto begin = text.rfind("addq\t", at) + 5;
    found.push_back(text.substr(begin, at - begin));
  }
  return found;
}

using Amounts = std::vector<std::string>;

TEST(Rewriter, ABlockEndsWhereTheNextBegins) {
  const auto text = function(std::string(kMark) + "\tmovl\t%edi, %eax\n\ttestl\t%eax, %eax\n" +
                             "\tje\t.L2\n" + kMark + "\tincl\t%eax\n.L2:\n" + kMark + "\tret\n");
  EXPECT_EQ(additions(text), (Amounts{"$3", "$1", "$1"}));
}

TEST(Rewriter, ThePrologueIsOfTheFirstBlock) {
  const auto text = function("\tpushq\t%rbx\n\t.cfi_def_cfa_offset 16\n\tsubq\t$8, %rsp\n" +
                             std::string(kMark) + "\tret\n");
  EXPECT_EQ(additions(text), (Amounts{"$3"}));
}

TEST(Rewriter, LabelsDirectivesAndCommentsAreNone) {
  const auto text = function(std::string(kMark) + ".L4:\n\t.p2align 4,,10\n# a comment\n\n" +
                             "\t.loc 1 2 3\n\trep stosq\n\tlock xaddq %rax, (%rdi)\n\tret\n");
  EXPECT_EQ(additions(text), (Amounts{"$3"}));
}

TEST(Rewriter, FunctionsDoNotRunIntoEachOther) {
  const auto first = function(std::string(kMark) + "\tnop\n\tret\n");
  const auto uncounted = function("\tnop\n\tnop\n\tnop\n\tret\n");
  EXPECT_EQ(additions(first + uncounted + first), (Amounts{"$2", "$2"}));
}

TEST(Rewriter, AMarkInPlaceOfAReturnReturns) {
  const auto text = count_instructions(function("\tjmp\t__sanitizer_cov_trace_pc@PLT\n"));
  EXPECT_NE(text.find("\taddq\t$1, npu_instructions(%rip)\n\tret\n"), std::string::npos) << text;
}

TEST(Rewriter, LibraryCallsAreChargedByCallAndByte) {
  const auto text = function(std::string(kMark) + "\tcall\tmalloc@PLT\n\tcall\tmemcpy@PLT\n" +
                             "\tcall\tsomebody@PLT\n\tjmp\tfree@PLT\n");
  EXPECT_EQ(additions(text), (Amounts{"$4", "$75", "%r11", "$48"}));
  const auto out = count_instructions(text);
  EXPECT_NE(out.find("\timulq\t$1, %rdx, %r11\n\tshrq\t$4, %r11\n\taddq\t$10, %r11\n"
                     "\taddq\t%r11, npu_instructions(%rip)\n\tcall\tmemcpy@PLT\n"),
            std::string::npos)
      << out;
}

TEST(Rewriter, AddressesInRegistersAndLabelsAreNoLibraryCalls) {
  const auto text =
      function(std::string(kMark) + "\tcall\t*%rax\n\tcall\t*free@GOTPCREL(%rip)\n\tjmp\t.L3\n");
  EXPECT_EQ(additions(text), (Amounts{"$3"}));
}

TEST(Rewriter, WhatIsNotCountedStaysByteForByte) {
  const std::string text = "\t.file\t\"a.cpp\"\n\t.text\nx:\n\t.quad\t7\n";
  EXPECT_EQ(count_instructions(text).rfind(text, 0), 0U);
}

}  // namespace
}  // namespace npu::counting
