// SPDX-License-Identifier: Apache-2.0
#include "operators/sources.hpp"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "npu/base/shortened.hpp"

namespace npu::operators {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// PREFIX/bin/npusim: PREFIX/share/npusim/operators and PREFIX/include; TREE/build/PRESET/bin/NAME:
// TREE and TREE/include.
struct Place {
  const char* root;
  const char* headers;
};
constexpr Place kPlaces[] = {{"../share/npusim/operators", "../include"},
                             {"../../..", "../../../include"}};

bool has_templates(const fs::path& root) {
  std::error_code ignored;
  return fs::is_directory(root / "operators/templates", ignored);
}

}  // namespace

Result<jit::Toolchain> find_toolchain(const std::string& compiler, const std::string& root) {
  fs::path folder = root.empty() ? variable("NPUSIM_OPERATORS_DIR") : root;
  fs::path headers = folder / "include";
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto& place : kPlaces) {
    if (!folder.empty()) break;
    if (!has_templates(program / place.root)) continue;
    folder = (program / place.root).lexically_normal();
    headers = (program / place.headers).lexically_normal();
  }
  if (folder.empty() || !has_templates(folder)) {
    return fail(ErrorCode::kNotFound,
                "no templates of operators in " +
                    (folder.empty() ? std::string("the installation; NPUSIM_OPERATORS_DIR names "
                                                  "the folder above operators/templates")
                                    : shortened(folder.string(), kShownPath)));
  }
  jit::Toolchain toolchain;
  toolchain.compiler = !compiler.empty() ? compiler : variable("NPUSIM_JIT_CXX");
  if (toolchain.compiler.empty()) toolchain.compiler = NPU_JIT_COMPILER;
  toolchain.templates = (folder / "operators/templates").string();
  toolchain.includes = {folder.string(), headers.string()};
  for (const char* part : {"abi", "aicore", "base", "operators", "platform"}) {
    toolchain.sources.push_back((headers / "npu" / part).string());
  }
  return toolchain;
}

}  // namespace npu::operators
