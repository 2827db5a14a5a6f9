// SPDX-License-Identifier: Apache-2.0
// Runs the built npusim and says what came out of it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/folders.hpp"
#include "tests/support/test_folder.hpp"

namespace npu::cli {

struct Result {
  int exit_code;
  std::string out;
  std::string err;
};

class Program : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }
  std::string text(const std::string& name) const { return file_text(path(name)); }
  void write(const std::string& name, const std::string& content) const {
    folder_.write(name, content);
  }

  // A shell command in the test's folder; standard error is kept apart.
  Result shell(const std::string& command) const {
    const std::string line =
        "cd " + quoted(folder_.path()) + " && " + command + " >out.txt 2>err.txt </dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text("out.txt"), text("err.txt")};
  }
  Result npusim(const std::vector<std::string>& arguments) const {
    std::string command = quoted(binary_dir() + "/bin/npusim");
    for (const auto& argument : arguments) command += " " + quoted(argument);
    return shell(command);
  }
  // A test cannot go on if this did not go well.
  static Result good(Result result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    if (result.exit_code != 0)
      throw std::runtime_error("exit code " + std::to_string(result.exit_code));
    return result;
  }

  // Bad input: exit code 2, nothing on standard output, exactly this line on standard error.
  void expect_refused(const std::vector<std::string>& arguments, const std::string& line) const {
    const auto result = npusim(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "npusim: " + line + "\n");
  }

 private:
  static std::string quoted(const std::string& text) {
    std::string safe = "'";
    for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return safe + "'";
  }
  const test::TestFolder folder_;
};

}  // namespace npu::cli
