// SPDX-License-Identifier: Apache-2.0
// A shared object of the host's whose function adds the tasks of a run (npu_callable of
// npu/driver/runtime.h), loaded from bytes.
#pragma once

#include <dlfcn.h>

#include <memory>
#include <string>

#include "npu/base/file_descriptor.hpp"
#include "npu/driver/runtime.h"

namespace npu::python {

class Orchestration {
 public:
  // std::invalid_argument: no such object, or no such function in it.
  Orchestration(const std::string& binary, const std::string& function);
  npu_callable callable() const { return callable_; }

 private:
  struct Unload {
    void operator()(void* library) const { ::dlclose(library); }
  };

  FileDescriptor file_;  // open as long as it is loaded: the loader knows objects by their names
  std::unique_ptr<void, Unload> library_;
  npu_callable callable_ = nullptr;
};

}  // namespace npu::python
