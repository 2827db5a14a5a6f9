// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/source_files.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "kernels/jit/file.hpp"
#include "npu/base/shortened.hpp"
#include "npu/base/units.hpp"

namespace npu::jit {
namespace {

namespace fs = std::filesystem;

constexpr Bytes kLargestSource = 16_MiB;

bool is_source(const fs::path& path) {
  const auto end = path.extension();
  return end == ".hpp" || end == ".h" || end == ".cpp" || end == ".inc";
}

}  // namespace

Status add_source_files(const std::string& folder, Sha256& sha) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (is_source(at->path()) && at->is_regular_file(error)) {
      names.push_back(at->path().lexically_relative(folder).generic_string());
    }
  }
  if (error) {
    return fail(
        error == std::errc::no_such_file_or_directory ? ErrorCode::kNotFound : ErrorCode::kIo,
        "sources in " + shortened(folder, kShownPath) + ": " + error.message());
  }
  std::sort(names.begin(), names.end());
  sha.add_field(std::to_string(names.size()));
  for (const auto& name : names) {
    const auto bytes = read_file(folder + "/" + name, kLargestSource);
    if (!bytes) return forward_error(bytes);
    sha.add_field(name);
    sha.add_field(view_of({bytes->data(), bytes->size()}));
  }
  return {};
}

}  // namespace npu::jit
