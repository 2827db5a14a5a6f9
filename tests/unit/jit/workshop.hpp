// SPDX-License-Identifier: Apache-2.0
// A folder with a template and compilers, for one test.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "npu/jit/kernel_cache.hpp"
#include "tests/support/test_folder.hpp"

namespace npu::jit {

class Workshop {
 public:
  Workshop();

  std::string path(const std::string& name) const { return folder_.path(name); }
  void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }
  std::string read(const std::string& name) const;

  // A shell script that logs its start, runs `body` and then the real compiler; $out is the output.
  std::string compiler(const std::string& body = "") const;
  // Instead of compiling it copies an object whose answer is 42.
  std::string quick_compiler() const;
  int starts() const;  // of those

  // With answer.cpp, whose kernels answer what the macro NPU_JIT_ANSWER says.
  Toolchain toolchain(const std::string& compiler) const;
  CacheOptions options() const { return {path("cache")}; }

  // Of the cache's folder: paths that end with `end`, in order.
  std::vector<std::string> stored(const std::string& end = ".so") const;

 private:
  const test::TestFolder folder_;
};

KernelRequest answering(int answer);
int answer_of(const Loaded& loaded);

// In a process of its own; true: it returned true.
bool in_child(const std::function<bool()>& work);
// The same as a user who may not do everything.
bool as_ordinary_user(const Workshop& workshop, const std::function<bool()>& work);

}  // namespace npu::jit
