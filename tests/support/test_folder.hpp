// SPDX-License-Identifier: Apache-2.0
// An empty folder of a test's own, which goes with all that is in it.
#pragma once

#include <fstream>
#include <string>

#include "npu/base/temporary_folder.hpp"

namespace npu::test {

class TestFolder {
 public:
  TestFolder() : folder_(TemporaryFolder::make().value()) {}

  const std::string& path() const { return folder_.path(); }
  std::string path(const std::string& name) const { return path() + "/" + name; }
  // A file in it, and the folders on the way there; gives the file's path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file(path(name));
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace npu::test
