// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/sources.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

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

// Below a folder above the program, or above the shared object that this code is in: of an
// installation, of a checkout or a copy.
constexpr const char* kRoots[] = {"share/npusim/operators", ""};
constexpr unsigned kMostAbove = 6;  // PREFIX/lib/python3/dist-packages/npusim/_npusim.so
// From the root: of a checkout or a copy, of an installation.
constexpr const char* kHeaders[] = {"include", "../../../include"};

bool has_templates(const fs::path& root) {
  std::error_code ignored;
  return fs::is_directory(root / "kernels/device/operators", ignored);
}

// The program, or the shared object that has this code. A program's own name is the one it was
// called by, and from another folder that is another file.
fs::path own_file() {
  std::error_code ignored;
  Dl_info info{};
  const bool known = dladdr(reinterpret_cast<const void*>(&has_templates), &info) != 0;
  const fs::path file = known && info.dli_fname != nullptr ? info.dli_fname : "";
  if (file.extension() == ".so") return fs::canonical(file, ignored);
  return fs::read_symlink("/proc/self/exe", ignored);
}

}  // namespace

Result<std::string> operators_root() {
  const std::string chosen = variable("NPUSIM_OPERATORS_DIR");
  if (!chosen.empty()) {
    if (has_templates(chosen)) return chosen;
    return fail(ErrorCode::kNotFound,
                "no templates of operators in " + shortened(chosen, kShownPath));
  }
  fs::path above = own_file();
  for (unsigned i = 0; i < kMostAbove && above != above.parent_path(); ++i) {
    above = above.parent_path();
    for (const char* place : kRoots) {
      const fs::path root = *place == '\0' ? above : above / place;
      if (has_templates(root)) return root.string();
    }
  }
  return fail(
      ErrorCode::kNotFound,
      "no templates of operators in the installation; NPUSIM_OPERATORS_DIR names the folder "
      "above kernels/device/operators");
}

Result<jit::Toolchain> find_toolchain(const std::string& compiler) {
  const auto root = operators_root();
  if (!root) return forward_error(root);
  const fs::path folder = *root;
  std::error_code ignored;
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
    if (const auto assembler = counting_assembler(own_file()); !assembler.empty()) {
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
