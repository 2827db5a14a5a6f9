// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/kernel_module.hpp"

#include "driver/runtime/kernel_note.hpp"

namespace npu::driver {

Result<std::shared_ptr<const KernelModule>> KernelModule::load(AddressSpace& space,
                                                               ConstByteSpan object,
                                                               const Upload& upload,
                                                               Bytes declared) {
  const auto image = make_image(abi::ImageKind::kAiCore, object, declared);
  if (!image) return forward_error(image);
  const auto memory = space.allocate(image->size());
  if (!memory) return forward_error(memory);
  const std::shared_ptr<const KernelModule> module(new KernelModule(space, memory->address));
  if (auto there = upload(memory->address, {image->data(), image->size()}); !there) {
    return forward_error(there);
  }
  return module;
}

KernelModule::~KernelModule() {
  static_cast<void>(space_.free(image_));
}

std::string KernelModule::name_in(ConstByteSpan object) {
  const auto note = find_kernel_note(object);
  return note ? std::string(note->name) : std::string();
}

}  // namespace npu::driver
