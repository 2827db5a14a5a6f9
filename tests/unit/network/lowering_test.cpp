// SPDX-License-Identifier: Apache-2.0
// The table of operators: names are sorted out once, and docs/networks.md lists them.
#include "workloads/network/lowering.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <regex>

#include "tests/support/folders.hpp"

namespace npu::network {
namespace {

TEST(Lowering, EachOperatorIsThereOnce) {
  const auto names = lowered_operators();
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Lowering, ThePageListsTheOperators) {
  const auto page = file_text(source_dir() + "/docs/networks.md");
  const auto begin = page.find("\n\n", page.find("## Operators"));
  const auto list = page.substr(begin + 1, page.find("\n## ", begin) - begin);
  const auto first = list.find("\n\n");
  std::vector<std::string> listed;
  const std::string paragraph = first == std::string::npos ? list : list.substr(0, first);
  const std::regex word("[A-Z][A-Za-z0-9]+");
  for (std::sregex_iterator at(paragraph.begin(), paragraph.end(), word), end; at != end; ++at) {
    listed.push_back(at->str());
  }
  const auto names = lowered_operators();
  EXPECT_EQ(listed, std::vector<std::string>(names.begin(), names.end()));
}

TEST(Lowering, NodesOfOtherDomainsAreNotAmongThem) {
  Node node;
  node.op = "Add";
  EXPECT_NE(find_lowering(node), nullptr);
  node.domain = "com.example";
  EXPECT_EQ(find_lowering(node), nullptr);
}

}  // namespace
}  // namespace npu::network
