// SPDX-License-Identifier: Apache-2.0
// The C functions of a context: device, memory, copies, kernels.
#include "driver/runtime/c_api_impl.hpp"

using namespace npu::driver::c_api;
using npu::driver::DeviceAddress;
using npu::driver::KernelId;

static_assert(code_of(npu::ErrorCode::kInvalidArgument) == NPU_ERROR_INVALID_ARGUMENT);
static_assert(code_of(npu::ErrorCode::kNotFound) == NPU_ERROR_NOT_FOUND);
static_assert(code_of(npu::ErrorCode::kAlreadyExists) == NPU_ERROR_ALREADY_EXISTS);
static_assert(code_of(npu::ErrorCode::kOutOfMemory) == NPU_ERROR_OUT_OF_MEMORY);
static_assert(code_of(npu::ErrorCode::kTimeout) == NPU_ERROR_TIMEOUT);
static_assert(code_of(npu::ErrorCode::kDeviceLost) == NPU_ERROR_DEVICE_LOST);
static_assert(code_of(npu::ErrorCode::kDeviceFault) == NPU_ERROR_DEVICE_FAULT);
static_assert(code_of(npu::ErrorCode::kAborted) == NPU_ERROR_ABORTED);

const char* npu_error_name(int code) {
  if (code == 0) return "ok";
  if (code > 0 || code < NPU_ERROR_ABORTED) return "unknown error";
  // Literals end with a zero byte.
  return npu::to_string(static_cast<npu::ErrorCode>(-1 - code)).data();
}

const char* npu_last_error(const npu_device_context* context) {
  return context == nullptr ? "no context" : context->error.c_str();
}

npu_device_context* npu_create_device_context(npu_platform* platform) {
  if (platform == nullptr) return nullptr;
  try {
    auto context = std::make_unique<npu_device_context>();
    auto made =
        npu::driver::DeviceContext::create(*reinterpret_cast<npu::platform::Platform*>(platform));
    if (!made) return nullptr;
    context->context = std::move(*made);
    return context.release();
  } catch (...) {
    return nullptr;
  }
}

void npu_destroy_device_context(npu_device_context* context) {
  delete context;
}

int npu_set_device(npu_device_context* context, int device_id) {
  return guarded(context, [&](npu_device_context& c) {
    if (device_id < 0) return refuse(c, "device ids are 0 and above");
    const int code = outcome(c, c.context->set_device(static_cast<std::uint32_t>(device_id)));
    if (code == 0) c.device = device_id;
    return code;
  });
}

int npu_finalize_device(npu_device_context* context) {
  return guarded(context, [](npu_device_context& c) {
    c.has_firmware = false;
    c.device = -1;
    return outcome(c, c.context->finalize());
  });
}

uint64_t npu_device_malloc(npu_device_context* context, size_t size) {
  std::uint64_t address = 0;
  guarded(context, [&](npu_device_context& c) {
    const auto memory = c.context->allocate(size);
    if (memory) address = memory->value;
    return outcome(c, memory);
  });
  return address;
}

int npu_device_free(npu_device_context* context, uint64_t address) {
  return guarded(context, [&](npu_device_context& c) {
    return outcome(c, c.context->free(DeviceAddress{address}));
  });
}

int npu_copy_to_device(npu_device_context* context, uint64_t to, const void* from, size_t size) {
  return guarded(context, [&](npu_device_context& c) {
    if (from == nullptr && size != 0) return refuse(c, "a copy from a null pointer");
    return outcome(c, c.context->copy_to_device(DeviceAddress{to}, span(from, size)));
  });
}

int npu_copy_from_device(npu_device_context* context, void* to, uint64_t from, size_t size) {
  return guarded(context, [&](npu_device_context& c) {
    if (to == nullptr && size != 0) return refuse(c, "a copy to a null pointer");
    const npu::ByteSpan out{static_cast<std::byte*>(to), size};
    return outcome(c, c.context->copy_from_device(out, DeviceAddress{from}));
  });
}

int npu_register_kernel(npu_device_context* context, uint32_t func_id, const void* binary,
                        size_t size) {
  return guarded(context, [&](npu_device_context& c) {
    if (binary == nullptr) return refuse(c, "a kernel without a binary");
    return outcome(c, c.context->register_kernel(KernelId{func_id}, span(binary, size)));
  });
}

int npu_unregister_kernel(npu_device_context* context, uint32_t func_id) {
  return guarded(context, [&](npu_device_context& c) {
    return outcome(c, c.context->unregister_kernel(KernelId{func_id}));
  });
}
