// SPDX-License-Identifier: Apache-2.0
// A sysfs and a /dev/vfio made of files, gone with the object.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace npu::test {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::path(testing::TempDir()) / ("npu_vfio_" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string path() const { return path_.string(); }
  // A link at `name` to a path that need not exist.
  void link(const std::string& name, const std::string& target) const {
    fs::create_directories((path_ / name).parent_path());
    fs::create_directory_symlink(target, path_ / name);
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }

 private:
  fs::path path_;
};

}  // namespace npu::test
