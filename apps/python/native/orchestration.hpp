// SPDX-License-Identifier: Apache-2.0
// A shared object of the host's whose function adds the tasks of a run (npu_callable of
// npu/driver/runtime.h), loaded from bytes.
#pragma once

#include <string>

#include "npu/driver/runtime.h"

namespace npu::python {

class Orchestration {
 public:
  // std::invalid_argument: no such object, or no such function in it.
  Orchestration(const std::string& binary, const std::string& function);
  ~Orchestration();
  Orchestration(const Orchestration&) = delete;
  Orchestration& operator=(const Orchestration&) = delete;
  npu_callable callable() const { return callable_; }

 private:
  void unload();

  int file_ = -1;  // open as long as it is loaded: the loader knows objects by their names
  void* library_ = nullptr;
  npu_callable callable_ = nullptr;
};

}  // namespace npu::python
