// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/orchestration.hpp"

#include <dlfcn.h>
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

Orchestration::Orchestration(const std::string& binary, const std::string& function) {
  file_ = ::memfd_create("npusim-orchestration", MFD_CLOEXEC);
  if (file_ < 0 || !write_whole(file_, binary)) {
    unload();
    throw std::runtime_error("no memory for the host's part of a callable");
  }
  library_ = ::dlopen(("/proc/self/fd/" + std::to_string(file_)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    const char* const why = ::dlerror();
    unload();
    throw std::invalid_argument(std::string("the callable's binary cannot be loaded: ") +
                                (why == nullptr ? "no reason given" : why));
  }
  callable_ = reinterpret_cast<npu_callable>(::dlsym(library_, function.c_str()));
  if (callable_ == nullptr) {
    unload();
    throw std::invalid_argument("the callable's binary has no function '" + function + "'");
  }
}

Orchestration::~Orchestration() {
  unload();
}

void Orchestration::unload() {
  if (library_ != nullptr) ::dlclose(library_);
  if (file_ >= 0) ::close(file_);
  library_ = nullptr;
  file_ = -1;
}

}  // namespace npu::python
