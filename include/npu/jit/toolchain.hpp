// SPDX-License-Identifier: Apache-2.0
// The compiler and the sources of kernels, for KernelCache.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace npu::jit {

// The compiler is called without a shell:
//   compiler flags... -Iincludes... -fdebug-prefix-map=FROM=TO... -DNAME=VALUE...
//     -x c++ FOLDER/FILE -o OUTPUT
// FOLDER is `templates`, or that of the request.
// Its environment has only PATH, HOME and LD_LIBRARY_PATH of the calling process, LC_ALL=C and its
// own TMPDIR.
struct Toolchain {
  std::string compiler;  // a path, or a name in PATH
  std::vector<std::string> flags = {
      "-std=c++17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique"};
  std::string templates;              // folder of the templates
  std::vector<std::string> includes;  // folders for -I
  // How paths are named in what objects tell of their sources: beginnings of paths, and what stands
  // for them; of several that fit the last one.
  std::vector<std::pair<std::string, std::string>> named;
  // More folders of sources of kernels, beside `templates`. A change of any file in them
  // invalidates all stored kernels.
  std::vector<std::string> sources;
  std::uint32_t architecture = 2201;
  std::chrono::milliseconds time_out{1'800'000};  // wall time of one that hangs
};

}  // namespace npu::jit
