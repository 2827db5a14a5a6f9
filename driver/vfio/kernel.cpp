// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/kernel.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

namespace npu::driver::vfio {

int Kernel::open(const std::string& path, int flags) {
  return ::open(path.c_str(), flags | O_CLOEXEC);
}

int Kernel::ioctl(int file, unsigned long request, void* argument) {
  return ::ioctl(file, request, argument);
}

void* Kernel::map(int file, std::uint64_t offset, std::size_t size) {
  return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                static_cast<off_t>(offset));
}

Kernel& Kernel::real() {
  static Kernel kernel;
  return kernel;
}

}  // namespace npu::driver::vfio
