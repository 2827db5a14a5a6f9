// SPDX-License-Identifier: Apache-2.0
// What each block adds, against assembly typed by hand.
#include "kernels/counting/rewriter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace npu::counting {
namespace {

std::string function(const std::string& body) {
  return "\t.text\nf:\n\t.cfi_startproc\n" + body + "\t.cfi_endproc\n";
}

// The amounts that are added to the counter, in order; by way of r11 with a star.
std::vector<std::string> additions(const std::string& assembly) {
  const std::string text = count_instructions(assembly);
  std::vector<std::string> found;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    const auto free = line.find(", npu_instructions(%rip)"), live = line.find("(%r11), %r11");
    if (line.rfind("\taddq\t", 0) == 0 && free != std::string::npos) {
      found.push_back(line.substr(6, free - 6));
    }
    if (live != std::string::npos) found.push_back("*" + line.substr(6, live - 6));
    begin = end + 1;
  }
  return found;
}

using Amounts = std::vector<std::string>;

TEST(Rewriter, ABlockEndsAtAJumpAndWhereAJumpGoes) {
  const auto text = function(
      "\tmovl\t%edi, %eax\n\ttestl\t%eax, %eax\n\tje\t.L2\n"
      "\taddl\t$2, %eax\n\tnop\n.L2:\n\tret\n");
  EXPECT_EQ(additions(text), (Amounts{"$3", "$2", "$1"}));
}

TEST(Rewriter, ACallEndsABlock) {
  const auto text =
      function("\tpushq\t%rbx\n\tcall\tg@PLT\n\tmovl\t%eax, (%rbx)\n\tje\t.L9\n.L9:\n\tret\n");
  EXPECT_EQ(additions(text), (Amounts{"$2", "$2", "$1"}));
}

TEST(Rewriter, FlagsThatAreReadBehindAJumpAreKept) {
  const auto text = function(
      "\tcmpl\t%esi, %edi\n\tjg\t.L2\n\tje\t.L3\n\tret\n"
      ".L2:\n\tmovl\t$1, %eax\n\tsete\t%al\n\tret\n"
      ".L3:\n\tmovl\t$1, %eax\n\taddl\t%esi, %eax\n\tsetb\t%al\n\tret\n");
  EXPECT_EQ(additions(text), (Amounts{"$2", "*1", "$1", "*3", "$4"}));
}

TEST(Rewriter, FlagsOfWhichNothingIsKnownAreKept) {
  const auto text = function(".L5:\n\tmovl\t(%rdi), %eax\n\tjmp\t.L5\n");
  EXPECT_EQ(additions(text), (Amounts{"*2"}));
}

TEST(Rewriter, WhatLooksLikeArithmeticOfVectorsLeavesFlags) {
  const auto text = function(
      "\taddsd\t%xmm0, %xmm1\n\txorps\t%xmm0, %xmm0\n\tcmpltsd\t%xmm0, %xmm1\n"
      "\tjne\t.L2\n.L2:\n\tret\n");
  EXPECT_EQ(additions(text), (Amounts{"*4", "$1"}));
}

TEST(Rewriter, TheCasesOfASwitchAndLandingPadsAreEntered) {
  const auto text = function("\tnop\n\tjmp\t*%rax\n.L4:\n\tnop\n\tret\n.L7:\n\tret\n") +
                    "\t.section\t.rodata\n\t.long\t.L4-.L2\n"
                    "\t.section\t.gcc_except_table\n\t.uleb128 .L7-.LFB1\n";
  EXPECT_EQ(additions(text), (Amounts{"*2", "$2", "$1"}));
}

TEST(Rewriter, LabelsThatNobodyGoesToEndNothing) {
  const auto text = function(".LFB7:\n\tnop\n.LBB3:\n\tnop\n.LVL2:\n\tret\n");
  EXPECT_EQ(additions(text), (Amounts{"$3"}));
}

TEST(Rewriter, DebugInformationChangesNothing) {
  const auto text = function(".LVL0:\n\tnop\n\t.loc 1 5 3\n.LBB3:\n\tnop\n.LBE3:\n\tret\n");
  const std::string debug =
      "\t.section\t.debug_info,\"\",@progbits\n\t.quad\t.LBB3\n\t.quad\t.LBE3-.LBB3\n"
      "\t.section\t.debug_rnglists,\"\",@progbits\n\t.uleb128 .LBB3-.LVL0\n";
  EXPECT_EQ(additions(text + debug), additions(text));
  EXPECT_EQ(additions(text + debug), (Amounts{"$3"}));
}

TEST(Rewriter, DirectivesAndCommentsAreNone) {
  const auto text = function(
      "\t.p2align 4,,10\n# a comment\n\n\t.loc 1 2 3\n\trep stosq\n"
      "\tlock xaddq %rax, (%rdi)\n\tret\n");
  EXPECT_EQ(additions(text), (Amounts{"$3"}));
}

TEST(Rewriter, LibraryCallsAreChargedByCallAndByte) {
  const auto text = function(
      "\tcall\tmalloc@PLT\n\tcall\tmemcpy@PLT\n"
      "\tcall\tsomebody@PLT\n\tjmp\tfree@PLT\n");
  EXPECT_EQ(additions(text), (Amounts{"$1", "$75", "$1", "%r11", "$1", "$1", "$48"}));
  const auto out = count_instructions(text);
  EXPECT_NE(out.find("\timulq\t$1, %rdx, %r11\n\tshrq\t$4, %r11\n\taddq\t$10, %r11\n"
                     "\taddq\t%r11, npu_instructions(%rip)\n\tcall\tmemcpy@PLT\n"),
            std::string::npos)
      << out;
}

TEST(Rewriter, AddressesInRegistersAndLabelsAreNoLibraryCalls) {
  const auto text =
      function("\tcall\t*%rax\n\tcall\t*free@GOTPCREL(%rip)\n\tjmp\t.L3\n.L3:\n\tret\n");
  EXPECT_EQ(additions(text), (Amounts{"$1", "$1", "$1", "$1"}));
}

TEST(Rewriter, WhatIsNotCodeStaysByteForByte) {
  const std::string text = "\t.file\t\"a.cpp\"\n\t.data\nx:\n\t.quad\t7\n";
  EXPECT_EQ(count_instructions(text).rfind(text, 0), 0U);
}

}  // namespace
}  // namespace npu::counting
