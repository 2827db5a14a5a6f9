// SPDX-License-Identifier: Apache-2.0
// A folder of this process' own, below $TMPDIR or /tmp, that goes with all that is in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "npu/base/errno_text.hpp"

namespace npu {

class TemporaryFolder {
 public:
  // Errors as code_of_errno().
  static Result<TemporaryFolder> make() {
    std::error_code none;
    const auto parent = std::filesystem::temp_directory_path(none);
    auto path = (none ? std::filesystem::path("/tmp") : parent) / "npusim-XXXXXX";
    std::string name = path.string();
    if (::mkdtemp(name.data()) == nullptr)
      return fail(code_of_errno(errno), name + ": " + errno_text(errno));
    return TemporaryFolder(std::move(name));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace npu
