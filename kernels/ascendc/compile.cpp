// SPDX-License-Identifier: Apache-2.0
#include "kernels/ascendc/compile.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "kernels/operators/sources.hpp"
#include "npu/base/shortened.hpp"
#include "npu/base/temporary_folder.hpp"

namespace npu::ascendc {
namespace {

namespace fs = std::filesystem;

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return {};
  return fail(ErrorCode::kIo, path + ": " + errno_text(errno));
}

Result<std::vector<std::byte>> run_compiler(const jit::Toolchain& toolchain,
                                            const std::string& folder, const std::string& file,
                                            const jit::Interrupted& interrupted) {
  jit::KernelCache cache(toolchain, jit::CacheOptions{});
  jit::KernelRequest request;
  request.template_file = file;
  request.folder = folder;
  request.loaded = false;
  const auto loaded = cache.get(request, interrupted);
  if (!loaded) return forward_error(loaded);
  const auto image = loaded->kernel->image();
  return std::vector<std::byte>(image.data, image.data + image.size);
}

// The source as the preprocessor leaves it. npusim's own headers are a system's, which tells them
// from the user's.
Result<std::string> preprocessed(jit::Toolchain toolchain, const CompileRequest& request,
                                 const fs::path& source, bool host,
                                 const jit::Interrupted& interrupted) {
  const std::string folder = source.parent_path().string();
  const std::string headers = toolchain.includes.back();
  toolchain.flags = {"-std=c++17", "-E", "-isystem", headers + "/npu/ascendc"};
  // Where the compiler looks last, it must not look first.
  if (headers != "/usr/include") {
    toolchain.flags.insert(toolchain.flags.end(), {"-isystem", headers});
  }
  if (host) toolchain.flags.emplace_back("-DNPUSIM_CC_HOST");
  if (request.launched) toolchain.flags.emplace_back("-DNPUSIM_CC_LAUNCHED");
  for (const auto& define : request.defines) toolchain.flags.push_back("-D" + define);
  toolchain.includes = {folder};
  toolchain.includes.insert(toolchain.includes.end(), request.includes.begin(),
                            request.includes.end());
  const auto text = run_compiler(toolchain, folder, source.filename().string(), interrupted);
  if (!text) return forward_error(text);
  return std::string(reinterpret_cast<const char*>(text->data()), text->size());
}

// The compiler speaks of the file that it was given, and behind it of the source's lines.
Error in_words_of(const Error& error, const std::string& made, const std::string& source) {
  Error result = error;
  for (auto at = result.context.find(made); at != std::string::npos;
       at = result.context.find(made, at + source.size())) {
    result.context.replace(at, made.size(), source);
  }
  const std::string named = source + ":";
  if (result.context.rfind(named + " ", 0) != 0) return result;
  for (auto at = result.context.find(named, 1); at != std::string::npos;
       at = result.context.find(named, at + 1)) {
    const auto first = at + named.size();
    const auto end = result.context.find_first_not_of("0123456789", first);
    if (end == first || end == std::string::npos) continue;
    result.context.insert(source.size(), ":" + result.context.substr(first, end - first));
    break;
  }
  return result;
}

struct Start {
  jit::Toolchain toolchain;
  fs::path source;  // the whole path
};

Result<Start> start_of(const CompileRequest& request) {
  std::error_code ignored;
  const fs::path source = fs::absolute(request.source, ignored).lexically_normal();
  if (!fs::is_regular_file(source, ignored)) {
    return fail(ErrorCode::kNotFound, shortened(request.source) + ": no such file");
  }
  auto toolchain = operators::find_toolchain(request.compiler);
  if (!toolchain) return forward_error(toolchain);
  return Start{std::move(*toolchain), source};
}

Result<DeviceSource> source_of(const Start& start, const CompileRequest& request, bool host,
                               const jit::Interrupted& interrupted) {
  const auto text = preprocessed(start.toolchain, request, start.source, host, interrupted);
  if (!text) return forward_error(text);
  return device_source(*text);
}

}  // namespace

Result<std::vector<CompiledKernel>> compile(const CompileRequest& request,
                                            const jit::Interrupted& interrupted) {
  auto start = start_of(request);
  if (!start) return forward_error(start);
  auto device = source_of(*start, request, false, interrupted);
  if (!device) return forward_error(device);
  if (device->kernels.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                shortened(request.source) + ": no kernel: no function with __global__ and a body");
  }
  auto& toolchain = start->toolchain;
  const auto folder = TemporaryFolder::make();
  if (!folder) return forward_error(folder);
  toolchain.named.emplace_back(start->source.parent_path().string() + "/", "");
  // Functions of the host's in the source want libraries that the card has not.
  // -g2: the variables, for gdb. Statements that begin with what is inlined hide their line from
  // it.
  toolchain.flags.insert(toolchain.flags.end(), {"-g2", "-gno-statement-frontiers",
                                                 "-ffunction-sections", "-Wl,--gc-sections"});
  std::vector<CompiledKernel> kernels;
  for (auto& kernel : device->kernels) {
    kernel.cores = request.cores.value_or(kernel.cores);
    const std::string file = kernel.name + ".cpp";
    const std::string path = folder->path() + "/" + file;
    const auto written = write_file(path, device->text + entry_of(kernel));
    if (!written) return forward_error(written);
    auto object = run_compiler(toolchain, folder->path(), file, interrupted);
    if (!object) {
      return tl::unexpected<Error>(in_words_of(object.error(), path, start->source.string()));
    }
    kernels.push_back({kernel.name, kernel.cores, std::move(*object)});
  }
  return kernels;
}

Result<std::vector<std::byte>> host_object(const CompileRequest& request,
                                           const std::vector<CompiledKernel>& kernels,
                                           const jit::Interrupted& interrupted) {
  const auto start = start_of(request);
  if (!start) return forward_error(start);
  const auto device = source_of(*start, request, true, interrupted);
  if (!device) return forward_error(device);
  const auto folder = TemporaryFolder::make();
  if (!folder) return forward_error(folder);
  const auto file = kernel_file(kernels);
  if (!file) return forward_error(file);
  const std::string bytes(reinterpret_cast<const char*>(file->data()), file->size());
  const std::string embedded = folder->path() + "/kernels", path = folder->path() + "/host.cpp";
  auto ok = write_file(embedded, bytes);
  if (ok) ok = write_file(path, device->text + kernels_of_host(embedded, device->kernels));
  if (!ok) return forward_error(ok);
  auto toolchain = start->toolchain;
  toolchain.flags = {"-std=c++17", "-O2", "-fPIC", "-c"};
  auto object = run_compiler(toolchain, folder->path(), "host.cpp", interrupted);
  if (object) return object;
  return tl::unexpected<Error>(in_words_of(object.error(), path, start->source.string()));
}

}  // namespace npu::ascendc
