// SPDX-License-Identifier: Apache-2.0
// A program of AI Cores in a process' memory on the card: uploaded once, freed when nobody has it
// any more. Launches keep theirs until they have ended (execution_stream.hpp).
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
  // Brings bytes of the host's to the card, and returns when they are there.
  using Upload = std::function<Status(DeviceAddress to, ConstByteSpan bytes)>;

  // `object` and `declared`: as make_image() takes them, whose errors are these; kOutOfMemory; what
  // `upload` says. `space` outlives the module.
  static Result<std::shared_ptr<const KernelModule>> load(AddressSpace& space, ConstByteSpan object,
                                                          const Upload& upload, Bytes declared = 0);
  ~KernelModule();
  KernelModule(const KernelModule&) = delete;
  KernelModule& operator=(const KernelModule&) = delete;

  DeviceAddress image() const { return image_; }

  // The name that the object's note gives the kernel; empty: it gives none.
  static std::string name_in(ConstByteSpan object);

 private:
  KernelModule(AddressSpace& space, DeviceAddress image) : space_(space), image_(image) {}

  AddressSpace& space_;
  const DeviceAddress image_;
};

}  // namespace npu::driver
