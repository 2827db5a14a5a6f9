// SPDX-License-Identifier: Apache-2.0
// What README.md shows is what the program prints.
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

using Readme = Program;

std::string readme() {
  std::ifstream file(NPU_SOURCE_DIR "/README.md");
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

TEST_F(Readme, shows_the_output_of_its_command) {
  const std::string text = readme(), prompt = "$ ./npusim ";
  const auto command = text.find(prompt);
  ASSERT_NE(command, std::string::npos);
  const auto output = text.find('\n', command) + 1;
  const auto arguments = text.substr(command + prompt.size(), output - 1 - command - prompt.size());
  const auto shown = text.substr(output, text.find("```", output) - output);

  const auto result = shell(NPU_BINARY_DIR "/bin/npusim " + arguments);

  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.substr(0, shown.size()), shown) << "README.md is out of date";
}

}  // namespace
}  // namespace npu::cli
