// SPDX-License-Identifier: Apache-2.0
// Configurations on disk for one test: the shipped ones, with single lines replaced.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "model/config/load.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/test_folder.hpp"

namespace npu::model {

using test::must;

inline const std::string kShipped = source_dir() + "/configs";

inline std::string shipped_text(const std::string& name) {
  return file_text(kShipped + "/" + name);
}

class ConfigTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }
  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }

  // 910b.yaml as "chip.yaml", with the line that holds `key` replaced (removed: empty).
  std::string chip_with(const std::string& key, const std::string& line) const {
    return write("chip.yaml", with_line("910b.yaml", key, line));
  }

  static std::string with_line(const std::string& file, const std::string& key,
                               const std::string& line) {
    std::istringstream lines(shipped_text(file));
    std::string text;
    bool done = false;
    for (std::string each; std::getline(lines, each);) {
      const bool hit = !done && each.substr(0, each.find('#')).find(key) != std::string::npos;
      done = done || hit;
      text += hit ? line : each;
      if (!hit || !line.empty()) text += "\n";
    }
    EXPECT_TRUE(done) << "no line with " << key;
    return text;
  }

  // The line of `file` in which `key` stands first, from 1.
  static int line_of(const std::string& file, const std::string& key) {
    std::istringstream lines(shipped_text(file));
    int number = 0;
    for (std::string each; std::getline(lines, each);) {
      ++number;
      if (each.substr(0, each.find('#')).find(key) != std::string::npos) return number;
    }
    return 0;
  }

  static ConfigResult<SystemConfig> load(const std::string& file,
                                         const std::vector<std::string>& overrides = {}) {
    return load_system(file, overrides, {kShipped});
  }
  // The message of a configuration that must not load.
  static std::string error_of(const std::string& file,
                              const std::vector<std::string>& overrides = {}) {
    const auto system = load(file, overrides);
    return system ? "loaded without an error" : system.error().message();
  }

 private:
  const test::TestFolder folder_;
};

}  // namespace npu::model
