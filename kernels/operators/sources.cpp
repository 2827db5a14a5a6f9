// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/sources.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <vector>

#include "kernels/operators/counting_assembler.hpp"
#include "npu/base/shortened.hpp"

namespace npu::operators {
namespace {

namespace fs = std::filesystem;

// Lines of sources for reports. They stay on the host (driver/runtime/image.cpp).
constexpr const char* kLines[] = {"-g1", "-gz"};
constexpr const char* kLeavesRegister = "-ffixed-r11";  // kernels/counting/rewriter.hpp

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// From the program's folder: PREFIX/bin/npusim, TREE/build/PRESET/bin/NAME.
constexpr const char* kRoots[] = {"../share/npusim/operators", "../../.."};
// From the root: of a checkout or a copy, of an installation.
constexpr const char* kHeaders[] = {"include", "../../../include"};

bool has_templates(const fs::path& root) {
  std::error_code ignored;
  return fs::is_directory(root / "kernels/device/operators", ignored);
}

}  // namespace

Result<jit::Toolchain> find_toolchain(const std::string& compiler, const std::string& root) {
  fs::path folder = root.empty() ? variable("NPUSIM_OPERATORS_DIR") : root;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char* place : kRoots) {
    if (folder.empty() && has_templates(program / place)) {
      folder = (program / place).lexically_normal();
    }
  }
  if (folder.empty() || !has_templates(folder)) {
    return fail(ErrorCode::kNotFound,
                "no templates of operators in " +
                    (folder.empty() ? std::string("the installation; NPUSIM_OPERATORS_DIR names "
                                                  "the folder above kernels/device/operators")
                                    : shortened(folder.string(), kShownPath)));
  }
  fs::path headers = folder / kHeaders[0];
  for (const char* place : kHeaders) {
    if (!fs::is_directory(folder / place / "npu/aicore", ignored)) continue;
    headers = (folder / place).lexically_normal();
    break;
  }
  jit::Toolchain toolchain;
  toolchain.compiler = !compiler.empty() ? compiler : variable("NPUSIM_JIT_CXX");
  if (toolchain.compiler.empty()) toolchain.compiler = NPU_JIT_COMPILER;
  if (toolchain.compiler == NPU_JIT_COMPILER) {
    if (const auto assembler = counting_assembler(); !assembler.empty()) {
      toolchain.flags.insert(toolchain.flags.end(), {kLeavesRegister, "-B" + assembler + "/"});
    }
  }
  toolchain.flags.insert(toolchain.flags.end(), std::begin(kLines), std::end(kLines));
  toolchain.templates = (folder / "kernels/device/operators").string();
  toolchain.includes = {folder.string(), headers.string()};
  toolchain.named = {{folder.string() + "/", ""}, {headers.string() + "/", "include/"}};
  for (const char* part : {"attention", "common", "matmul", "vector"}) {
    toolchain.sources.push_back((folder / "kernels/device" / part).string());
  }
  for (const char* part : {"abi", "aicore", "base", "operators", "platform"}) {
    toolchain.sources.push_back((headers / "npu" / part).string());
  }
  return toolchain;
}

bool counts_instructions(const jit::Toolchain& toolchain) {
  const auto& flags = toolchain.flags;
  return std::find(flags.begin(), flags.end(), kLeavesRegister) != flags.end();
}

}  // namespace npu::operators
