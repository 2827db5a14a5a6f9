// SPDX-License-Identifier: Apache-2.0
// The table of docs/accuracy.md that is the output of npusim run hbm_replay.
#include <iterator>

#include "tests/support/folders.hpp"
#include "tests/system/accuracy/page.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::accuracy {
namespace {

using ReplayTable = cli::Program;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

TEST_F(ReplayTable, IsTheProgramsOutput) {
  const auto result = shell(binary_dir() + "/bin/npusim --config 910b run hbm_replay");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream lines(result.out);
  std::string table =
      "| tool | pattern | outstanding | bandwidth | theirs | error % | latency ns | theirs | error "
      "% "
      "|\n|---|---|---|---|---|---|---|---|---|\n";
  std::string tool;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() == 3 && words[1] == "on") tool = words[0];
    if (tool.empty() || words.size() != 8 || words[0] == "pattern") continue;
    table += "| " + tool + " |";
    for (const auto& word : words) table += " " + word + " |";
    table += "\n";
  }
  expect_on_page("hbm-replay", table);
}

}  // namespace
}  // namespace npu::accuracy
