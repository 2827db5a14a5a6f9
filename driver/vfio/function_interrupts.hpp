// SPDX-License-Identifier: Apache-2.0
// MSI-X of a function and the kernel's own messages about it, through eventfds.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "driver/vfio/file.hpp"
#include "driver/vfio/kernel.hpp"
#include "npu/base/result.hpp"

namespace npu::driver::vfio {

// Members may be called from several threads at once.
class FunctionInterrupts {
 public:
  // `device`: the function's open file. `name`: for messages.
  FunctionInterrupts(Kernel& kernel, int device, const std::string& name)
      : kernel_(kernel), device_(device), name_(name) {}

  // How many vectors there are. Before all that follows.
  void read();
  // What the kernel signals from now on, until close(). As Function::open_vector().
  Result<FileDescriptor> open(unsigned vector);
  void close(unsigned vector);
  // As Function::subscribe().
  FileDescriptor subscribe(unsigned irq_index) const;

 private:
  Status set_vectors(unsigned first, unsigned count, int eventfd, const std::string& what) const;
  Status enable_msix(unsigned vector);

  Kernel& kernel_;
  const int device_;
  const std::string& name_;
  unsigned vectors_ = 0;  // in the table
  bool can_add_ = false;  // while MSI-X is on
  std::mutex mutex_;      // of the following
  unsigned enabled_ = 0;  // 0: MSI-X is off
  std::set<unsigned> open_;
};

}  // namespace npu::driver::vfio
