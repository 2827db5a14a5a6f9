// SPDX-License-Identifier: Apache-2.0
// The compiler: what it is, what it makes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/jit/sha256.hpp"
#include "npu/base/result.hpp"
#include "npu/jit/kernel_cache.hpp"

namespace npu::jit {

// A template and its macros are a request's. Usable from several threads.
class Compiler {
 public:
  explicit Compiler(Toolchain toolchain) : toolchain_(std::move(toolchain)) {}

  const Toolchain& toolchain() const { return toolchain_; }

  // Digest of all that a kernel is made of but its key: the compiler's path and what it says its
  // version is (asked once), flags, the template's name; names and contents of all files of the
  // templates and sources, or what the preprocessor makes of the template.
  Result<std::string> digest(const KernelRequest& request, const Interrupted& interrupted);

  // The object's bytes. Starts a compiler that somebody killed once more.
  Result<std::vector<std::byte>> compile(const KernelRequest& request,
                                         const Interrupted& interrupted);

  std::string source_of(const KernelRequest& request) const {
    const auto& folder = request.folder.empty() ? toolchain_.templates : request.folder;
    return folder + "/" + request.template_file;
  }
  std::uint64_t starts() const { return starts_.load(); }
  std::chrono::nanoseconds time() const { return std::chrono::nanoseconds(time_.load()); }

 private:
  Result<std::string> version(const Interrupted& interrupted);
  Status add_files(Sha256& sha) const;
  Status add_preprocessed(const KernelRequest& request, const Interrupted& interrupted,
                          Sha256& sha) const;

  const Toolchain toolchain_;
  std::mutex version_lock_;
  std::string version_;
  std::atomic<std::uint64_t> starts_{0};
  std::atomic<std::int64_t> time_{0};
};

}  // namespace npu::jit
