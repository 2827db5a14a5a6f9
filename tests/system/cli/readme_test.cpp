// SPDX-License-Identifier: Apache-2.0
// README.md's table of folders.
#include <set>

#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

using Readme = Program;

std::string readme() {
  return file_text(source_dir() + "/README.md");
}

// The first cells of the table of folders, "cmake, set-up, .ci" as three.
std::set<std::string> folders_of_the_table() {
  const std::string text = readme();
  std::istringstream lines(text.substr(text.find("## Folders")));
  std::set<std::string> found;
  for (std::string line; std::getline(lines, line) && line.rfind("## What", 0) != 0;) {
    if (line.rfind("| ", 0) != 0 || line.rfind("| folder", 0) == 0) continue;
    std::istringstream cell(line.substr(2, line.find(" |") - 2));
    for (std::string name; std::getline(cell >> std::ws, name, ',');) found.insert(name);
  }
  return found;
}

TEST_F(Readme, HasEveryFolderInItsTableAndNoOther) {
  const std::filesystem::path root(source_dir());
  const auto named = folders_of_the_table();
  std::set<std::string> tops;
  for (const auto& name : named) {
    EXPECT_TRUE(std::filesystem::is_directory(root / name)) << name;
    tops.insert(name.substr(0, name.find('/')));
  }
  for (const auto& folder : std::filesystem::directory_iterator(root)) {
    if (!std::filesystem::exists(folder.path() / "README.md")) continue;
    EXPECT_EQ(tops.count(folder.path().filename().string()), 1U) << folder.path();
  }
}

}  // namespace
}  // namespace npu::cli
