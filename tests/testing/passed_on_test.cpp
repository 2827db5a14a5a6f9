// SPDX-License-Identifier: Apache-2.0
// A driver under test has the whole platform: the one around the machine's passes on every
// function, those with an implementation of their own too.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "tests/support/folders.hpp"

namespace npu::testkit {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(source_dir() + "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ObservedPlatform, PassesOnEveryFunctionOfAPlatform) {
  const auto declared = text_of("include/npu/platform/platform.hpp");
  const auto passed_on = text_of("machine/testing/observed_platform.hpp");
  const std::regex function("virtual [^;{(~]*?(\\w+)\\(");
  int found = 0;
  for (std::sregex_iterator each(declared.begin(), declared.end(), function), end; each != end;
       ++each) {
    const std::string name = (*each)[1];
    EXPECT_TRUE(std::regex_search(passed_on, std::regex("\\b" + name + "\\([^;]*?override")))
        << name;
    ++found;
  }
  EXPECT_GE(found, 15);
}

}  // namespace
}  // namespace npu::testkit
