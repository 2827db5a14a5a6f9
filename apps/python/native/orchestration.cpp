// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/orchestration.hpp"

#include <stdexcept>

#include "npu/base/write_all.hpp"

namespace npu::python {

Orchestration::Orchestration(const std::string& binary, const std::string& function)
    : file_(memory_file("npusim-orchestration",
                        {reinterpret_cast<const std::byte*>(binary.data()), binary.size()})) {
  if (!file_) throw std::runtime_error("no memory for the host's part of a callable");
  const std::string path = "/proc/self/fd/" + std::to_string(file_.get());
  library_.reset(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library_ == nullptr) {
    const char* const why = ::dlerror();
    throw std::invalid_argument(std::string("the callable's binary cannot be loaded: ") +
                                (why == nullptr ? "no reason given" : why));
  }
  callable_ = reinterpret_cast<npu_callable>(::dlsym(library_.get(), function.c_str()));
  if (callable_ == nullptr) {
    throw std::invalid_argument("the callable's binary has no function '" + function + "'");
  }
}

}  // namespace npu::python
