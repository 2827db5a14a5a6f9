// SPDX-License-Identifier: Apache-2.0
// The system calls on VFIO's files. A seam: what a kernel may answer is more than any one machine
// can be made to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace npu::driver::vfio {

// As the calls of the same names: -1 and errno.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual int open(const std::string& path, int flags);
  // `argument`: a pointer, or an integer in place of one.
  virtual int ioctl(int file, unsigned long request, void* argument);
  // Shared, for reading and writing. MAP_FAILED.
  virtual void* map(int file, std::uint64_t offset, std::size_t size);

  static Kernel& real();
};

}  // namespace npu::driver::vfio
