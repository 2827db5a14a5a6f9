// SPDX-License-Identifier: Apache-2.0
// `npusim cc KERNEL.cpp`: the front of kernels/ascendc.
#include <fmt/format.h>

#include <filesystem>

#include "kernels/ascendc/compile.hpp"
#include "npu/base/shortened.hpp"
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

Failure failure_of(const Error& error) {
  const bool input =
      error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kNotFound;
  return {input ? kExitBadInput : kExitFailure, error.context};
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
  request.launched = options.host;
  request.cores = cores_of(options.kernel_type);
  if (!request.cores && !options.kernel_type.empty()) {
    return bad_input("--kernel-type: found '" + shortened(options.kernel_type) +
                     "'; allowed: aiv, aic, mix");
  }
  const auto kernels = ascendc::compile(request);
  if (!kernels) return tl::unexpected(failure_of(kernels.error()));
  auto file = options.host ? ascendc::host_object(request, *kernels)
                           : Result<std::vector<std::byte>>(ascendc::kernel_file(*kernels));
  if (!file) return tl::unexpected(failure_of(file.error()));
  const std::string bytes(reinterpret_cast<const char*>(file->data()), file->size());
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
