// SPDX-License-Identifier: Apache-2.0
// What docs/sweeps.md shows is what the program does.
#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

using SweepDocs = Program;

std::string source(const std::string& name) {
  std::ifstream file(source_dir() + "/" + name);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

// The lines of the page behind `begin` up to the end of their block.
std::string shown_behind(const std::string& begin) {
  const std::string page = source("docs/sweeps.md");
  const auto found = page.find(begin);
  if (found == std::string::npos) return "docs/sweeps.md has no " + begin;
  const auto first = found + begin.size();
  return page.substr(first, page.find("```", first) - first);
}

TEST_F(SweepDocs, the_example_is_the_file_that_is_shipped) {
  const std::string file = source("configs/sweeps/dma_latency.yaml");
  EXPECT_EQ(file.substr(file.find('\n') + 1), shown_behind("```yaml\n"));
}

TEST_F(SweepDocs, the_example_gives_the_output_and_the_table_that_are_shown) {
  if (!NPU_COUNTING) GTEST_SKIP() << "what is shown is of a build that counts instructions";
  const std::string command = "npusim sweep configs/sweeps/dma_latency.yaml --output latency\n";
  const auto result =
      npusim({"sweep", source_dir() + "/configs/sweeps/dma_latency.yaml", "--output", "latency"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, shown_behind("$ " + command));
  EXPECT_EQ(text("latency/sweep.csv"), shown_behind("$ cat latency/sweep.csv\n"));
}

}  // namespace
}  // namespace npu::cli
