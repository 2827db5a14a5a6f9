// SPDX-License-Identifier: Apache-2.0
// A sysfs and a /dev/vfio made of files, gone with the object.
#pragma once

#include <string>

#include "tests/support/test_folder.hpp"

namespace npu::test {

namespace fs = std::filesystem;

class Folder : public TestFolder {
 public:
  // A link at `name` to a path that need not exist.
  void link(const std::string& name, const std::string& target) const {
    const fs::path link(path(name));
    fs::create_directories(link.parent_path());
    fs::create_directory_symlink(target, link);
  }
};

}  // namespace npu::test
