// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/orchestration.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

namespace npu::python {
namespace {

bool write_whole(int file, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const auto written = ::write(file, bytes.data() + done, bytes.size() - done);
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

Orchestration::Orchestration(const std::string& binary, const std::string& function)
    : file_(::memfd_create("npusim-orchestration", MFD_CLOEXEC)) {
  if (!file_ || !write_whole(file_.get(), binary)) {
    throw std::runtime_error("no memory for the host's part of a callable");
  }
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
