// SPDX-License-Identifier: Apache-2.0
// What compiles kernels, and what of.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace npu::jit {

// The compiler is called without a shell:
//   compiler flags... -Iincludes... -DNAME=VALUE... -x c++ templates/FILE -o OUTPUT
// with PATH, HOME and LD_LIBRARY_PATH of the calling process, LC_ALL=C and a TMPDIR of its own as
// its only environment.
struct Toolchain {
  std::string compiler;  // a path, or a name to look for in PATH
  std::vector<std::string> flags = {
      "-std=c++17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique"};
  std::string templates;              // folder of the templates
  std::vector<std::string> includes;  // folders for -I
  // Folders whose files are part of what a kernel is made of (with `templates`): a change of any of
  // them makes all stored kernels those of another toolchain.
  std::vector<std::string> sources;
  // True: a kernel is made of what the preprocessor makes of its template, with whatever that
  // includes, and of no other file. For source files of users, beside which anything may lie.
  bool preprocessed = false;
  std::uint32_t architecture = 2201;
  std::chrono::milliseconds time_out{120'000};  // wall time of one compilation
};

}  // namespace npu::jit
