// SPDX-License-Identifier: Apache-2.0
// The file of `run --branches`, and what the run says of their ends.
#include "tools/cli/sweep/branches_file.hpp"

#include <gtest/gtest.h>

namespace npu::sweep {
namespace {

TEST(BranchesFile, IsReadAsItWasWritten) {
  const std::vector<Branch> written{{{"steps=1", "a=\"\\\n"}, "r 0.json", "log"}, {{}, "", "x"}};
  const auto read = parse_branches(branches_text(written));
  ASSERT_TRUE(read) << read.error().context;
  ASSERT_EQ(read->size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*read)[i].sets, written[i].sets);
    EXPECT_EQ((*read)[i].report, written[i].report);
    EXPECT_EQ((*read)[i].log, written[i].log);
  }
}

TEST(BranchesFile, IsAnArrayOfBranches) {
  for (const std::string text :
       {"", "{", "[]", "{}", "[1]", "[{}]", "[{\"sets\": [], \"report\": \"r\"}]",
        "[{\"sets\": \"a=1\", \"report\": \"r\", \"log\": \"l\"}]",
        "[{\"sets\": [1], \"report\": \"r\", \"log\": \"l\"}]",
        "[{\"sets\": [], \"report\": 1, \"log\": \"l\"}]"}) {
    EXPECT_EQ(parse_branches(text).error().code, ErrorCode::kInvalidArgument) << text;
  }
}

TEST(BranchesFile, EndsComeInLinesAndLinesInPieces) {
  std::string text = line_of({0, 0}) + line_of({12, 137}) + "what\n7 \n 3\n4 5 6\n1 256\n5 ";
  const auto ends = take_ends(text);
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[1].number, 12U);
  EXPECT_EQ(ends[1].exit_code, 137);
  EXPECT_EQ(text, "5 ");
  text += "2\n";
  ASSERT_EQ(take_ends(text).size(), 1U);
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace npu::sweep
