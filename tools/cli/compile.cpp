// SPDX-License-Identifier: Apache-2.0
// `npusim cc KERNEL.cpp`: the front of kernels/ascendc.
#include <fmt/format.h>

#include <filesystem>

#include "kernels/ascendc/compile.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"

namespace npu::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTypes[] = {"aic", "aiv", "mix"};  // by abi::KernelCores

const char* name_of(abi::KernelCores cores) {
  return kTypes[static_cast<std::size_t>(cores)];
}

std::optional<abi::KernelCores> cores_of(const std::string& type) {
  for (const auto cores :
       {abi::KernelCores::kCube, abi::KernelCores::kVector, abi::KernelCores::kMixed}) {
    if (type == name_of(cores)) return cores;
  }
  return {};
}

}  // namespace

Outcome compile_kernels(const Options& options) {
  if (options.arguments.size() != 1) return bad_input("cc: which file? One at a time");
  const std::string& source = options.arguments[0];
  const std::string output =
      options.output.empty() ? fs::path(source).stem().string() + ".o" : options.output;
  if (auto ok = check_not_read("--output", output, {source}); !ok) return ok;
  ascendc::CompileRequest request;
  request.source = source;
  request.includes = options.includes;
  request.defines = options.defines;
  request.cores = cores_of(options.kernel_type);
  const auto kernels = ascendc::compile(request);
  if (!kernels) {
    const auto& error = kernels.error();
    const bool input =
        error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kNotFound;
    return input ? bad_input(error.context) : failure(error.context);
  }
  const auto file = ascendc::kernel_file(*kernels);
  const std::string bytes(reinterpret_cast<const char*>(file.data()), file.size());
  if (auto ok = write_output(output, bytes); !ok) return ok;
  if (output == "/dev/stdout") return {};
  std::string lines;
  for (const auto& kernel : *kernels) {
    lines += fmt::format("{}: {}, {} bytes, in {}\n", kernel.name, name_of(kernel.cores),
                         kernel.object.size(), output);
  }
  return print(lines);
}

}  // namespace npu::cli
