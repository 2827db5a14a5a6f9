// SPDX-License-Identifier: Apache-2.0
// A program of AI Cores in a process' device memory. It is uploaded once and freed with the last
// reference. A launch holds a reference until it has ended (execution_stream.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "npu/base/byte_span.hpp"
#include "npu/driver/address_space.hpp"
#include "npu/driver/program.hpp"

namespace npu::driver {

class NPU_API KernelModule {
 public:
  // Copies bytes to the card and returns when they have arrived.
  using Upload = std::function<Status(DeviceAddress to, ConstByteSpan bytes)>;

  // `object` and `declared` are those of make_image(). `space` outlives the module.
  // Errors are those of make_image(), AddressSpace::allocate() and `upload`.
  static Result<std::shared_ptr<const KernelModule>> load(AddressSpace& space, ConstByteSpan object,
                                                          const Upload& upload, Bytes declared = 0);
  ~KernelModule();
  KernelModule(const KernelModule&) = delete;
  KernelModule& operator=(const KernelModule&) = delete;

  DeviceAddress image() const { return image_; }

  // The kernel's name in the object's note; empty: none.
  static std::string name_in(ConstByteSpan object);

 private:
  KernelModule(AddressSpace& space, DeviceAddress image) : space_(space), image_(image) {}

  AddressSpace& space_;
  const DeviceAddress image_;
};

}  // namespace npu::driver
