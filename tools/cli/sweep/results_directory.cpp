// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/results_directory.hpp"

#include <filesystem>

#include "npu/base/errno_text.hpp"
#include "npu/base/shortened.hpp"

namespace npu::sweep {

namespace fs = std::filesystem;

Result<ResultsDirectory> ResultsDirectory::open(const std::string& path) {
  const auto refuse = [&](const std::error_code& code) {
    return fail(code_of_errno(code.value()), shortened(path, kShownPath) +
                                                 ": cannot be used for results: " + code.message() +
                                                 "; --output DIR takes another");
  };
  std::error_code code;
  const bool there = fs::exists(path, code);
  if (there && !fs::is_directory(path, code)) {
    return refuse(std::make_error_code(std::errc::not_a_directory));
  }
  const fs::path points = fs::path(path) / "points";
  if (there && !fs::is_directory(points, code)) {
    const bool empty = fs::is_empty(path, code);
    if (code) return refuse(code);
    if (!empty) {
      return fail(ErrorCode::kInvalidArgument,
                  shortened(path, kShownPath) +
                      ": is not empty and holds no results of a sweep; --output DIR takes another");
    }
  }
  fs::create_directories(points, code);
  if (code) return refuse(code);
  return ResultsDirectory(path);
}

Status ResultsDirectory::write(const std::string& name, const std::string& text) const {
  auto opened = reports::OutputFile::open("", file(name));
  if (!opened) return forward_error(opened);
  if (auto ok = opened->append(text); !ok) return ok;
  return opened->commit();
}

}  // namespace npu::sweep
