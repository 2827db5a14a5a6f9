// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/compiler.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "kernels/jit/child.hpp"
#include "kernels/jit/diagnostics.hpp"
#include "kernels/jit/file.hpp"
#include "kernels/jit/scratch.hpp"
#include "kernels/jit/sha256.hpp"
#include "kernels/jit/source_files.hpp"
#include "npu/base/shortened.hpp"
#include "npu/base/units.hpp"

namespace npu::jit {
namespace {

constexpr Bytes kLargestObject = 256_MiB;
constexpr Bytes kLargestText = 256_MiB;  // that the preprocessor makes
constexpr const char* kNamed = "-fdebug-prefix-map=";
constexpr int kAttempts = 2;  // the second one only if somebody killed the first

std::vector<std::string> environment(const std::string& scratch) {
  std::vector<std::string> result{"LC_ALL=C", "TMPDIR=" + scratch};
  for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) result.push_back(fmt::format("{}={}", name, value));
  }
  return result;
}

bool is_plain_name(const std::string& name) {
  if (name.empty() || name[0] == '/' || name[0] == '-') return false;
  for (const auto& part : std::filesystem::path(name)) {
    if (part == "..") return false;
  }
  return name.find_first_of("\n\r") == std::string::npos && name.find('\0') == std::string::npos;
}

std::vector<std::string> command_line(const Toolchain& toolchain, const KernelRequest& request,
                                      const std::string& source, const std::string& output,
                                      bool preprocess = false) {
  std::vector<std::string> line{toolchain.compiler};
  line.insert(line.end(), toolchain.flags.begin(), toolchain.flags.end());
  for (const auto& folder : toolchain.includes) line.push_back("-I" + folder);
  // The folder that this process happens to be in is nothing that an object depends on.
  std::error_code ignored;
  line.push_back(kNamed + std::filesystem::current_path(ignored).string() + "=.");
  for (const auto& [path, name] : toolchain.named) line.push_back(kNamed + path + "=" + name);
  if (!request.folder.empty()) line.push_back(kNamed + request.folder + "/=");
  for (const auto& [name, value] : request.macros) {
    line.push_back(fmt::format("-D{}={}", name, value));
  }
  if (preprocess) line.insert(line.end(), {"-E", "-fno-working-directory"});
  line.insert(line.end(), {"-x", "c++", source, "-o", output});
  return line;
}

Error timed_out(const Toolchain& toolchain, const std::string& source) {
  return {ErrorCode::kTimeout,
          fmt::format("{}: {} took more than {} ms and was killed", shortened(source, kShownPath),
                      shortened(toolchain.compiler, kShownPath), toolchain.time_out.count())};
}

}  // namespace

Result<std::string> Compiler::version(const Interrupted& interrupted) {
  const std::lock_guard<std::mutex> lock(version_lock_);
  if (!version_.empty()) return version_;
  const auto answer = run_child(
      {{toolchain_.compiler, "--version"}, environment("/tmp"), toolchain_.time_out, interrupted});
  if (!answer) return forward_error(answer);
  if (answer->interrupted) return fail(ErrorCode::kAborted, "interrupted");
  if (answer->timed_out || answer->signal != 0 || answer->exit_code != 0) {
    return fail(ErrorCode::kNotFound, shortened(toolchain_.compiler, kShownPath) +
                                          " --version fails: this is no compiler");
  }
  version_ = "version " + answer->output;
  return version_;
}

Status Compiler::add_files(Sha256& sha) const {
  if (auto added = add_source_files(toolchain_.templates, sha); !added) return added;
  for (const auto& folder : toolchain_.sources) {
    if (auto added = add_source_files(folder, sha); !added) return added;
  }
  return {};
}

Status Compiler::add_preprocessed(const KernelRequest& request, const Interrupted& interrupted,
                                  Sha256& sha) const {
  const auto scratch = Scratch::make();
  if (!scratch) return forward_error(scratch);
  const std::string source = source_of(request);
  const std::string output = scratch->path() + "/out.ii";
  const auto result = run_child({command_line(toolchain_, request, source, output, true),
                                 environment(scratch->path()), toolchain_.time_out, interrupted});
  if (!result) return forward_error(result);
  if (result->interrupted) return fail(ErrorCode::kAborted, "interrupted while compiling");
  if (result->timed_out) return tl::unexpected<Error>(timed_out(toolchain_, source));
  if (result->signal != 0 || result->exit_code != 0) {
    return fail(ErrorCode::kInvalidArgument, explain(result->output, source));
  }
  const auto text = read_file(output, kLargestText);
  if (!text) return forward_error(text);
  sha.add_field(view_of({text->data(), text->size()}));
  return {};
}

Result<std::string> Compiler::digest(const KernelRequest& request, const Interrupted& interrupted) {
  const std::string& template_file = request.template_file;
  if (!is_plain_name(template_file)) {
    return fail(ErrorCode::kInvalidArgument,
                "\"" + shortened(template_file) + "\" is no name of a template");
  }
  const auto version_text = version(interrupted);
  if (!version_text) return forward_error(version_text);
  Sha256 sha;
  for (const auto& field : {toolchain_.compiler, *version_text, template_file}) {
    sha.add_field(field);
  }
  sha.add_field(std::to_string(toolchain_.flags.size()));
  for (const auto& flag : toolchain_.flags) sha.add_field(flag);
  const auto added =
      request.folder.empty() ? add_files(sha) : add_preprocessed(request, interrupted, sha);
  if (!added) return forward_error(added);
  return hex(sha.finish());
}

Result<std::vector<std::byte>> Compiler::compile(const KernelRequest& request,
                                                 const Interrupted& interrupted) {
  const std::string source = source_of(request);
  struct stat about {};
  if (stat(source.c_str(), &about) != 0) return fail_errno(shortened(source, kShownPath));
  const auto scratch = Scratch::make();
  if (!scratch) return forward_error(scratch);
  const std::string output = scratch->path() + "/out.so";
  for (int attempt = 1;; ++attempt) {
    ++starts_;
    const auto begin = std::chrono::steady_clock::now();
    const auto result = run_child({command_line(toolchain_, request, source, output),
                                   environment(scratch->path()), toolchain_.time_out, interrupted});
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
    time_ += took.count();
    if (!result) return forward_error(result);
    if (result->interrupted) return fail(ErrorCode::kAborted, "interrupted while compiling");
    if (result->timed_out) return tl::unexpected<Error>(timed_out(toolchain_, source));
    if (result->signal != 0 && attempt < kAttempts) continue;
    if (result->signal != 0) {
      return fail(
          ErrorCode::kAborted,
          fmt::format("{}: {} was killed by signal {}, twice", shortened(source, kShownPath),
                      shortened(toolchain_.compiler, kShownPath), result->signal));
    }
    if (result->exit_code != 0) {
      return fail(ErrorCode::kInvalidArgument, explain(result->output, source));
    }
    return read_file(output, kLargestObject);
  }
}

}  // namespace npu::jit
