// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <acl/npusim_kernels.h>
#include <fcntl.h>
#include <runtime/kernel.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "apps/compat/acl/blocking.hpp"
#include "apps/compat/acl/kernel_arguments.hpp"
#include "apps/compat/acl/symbols.hpp"
#include "apps/compat/client/managed_view.hpp"
#include "apps/compat/client/request.hpp"
#include "npu/base/file_descriptor.hpp"

namespace npu::compat {
namespace {

constexpr std::size_t kLargestBinary = std::size_t{64} << 20;  // bytes, less than these

// False: it cannot be read, or is too large.
bool read_file(const char* path, std::vector<std::byte>* bytes) {
  FileDescriptor file;
  do {
    file = FileDescriptor(::open(path, O_RDONLY | O_CLOEXEC));
  } while (!file && errno == EINTR);
  if (!file) return false;
  constexpr std::size_t kStep = std::size_t{1} << 20;
  std::size_t size = 0;
  ssize_t got = 1;
  while (got > 0 && size < kLargestBinary) {
    bytes->resize(size + kStep);
    do {
      got = ::read(file.get(), bytes->data() + size, kStep);
    } while (got < 0 && errno == EINTR);
    if (got > 0) size += static_cast<std::size_t>(got);
  }
  bytes->resize(size);
  return got == 0;
}

std::uint32_t magic_of(const aclrtBinaryLoadOptions* options) {
  for (std::size_t i = 0; options != nullptr && i < options->numOpt; ++i) {
    if (options->options[i].type == ACL_RT_BINARY_LOAD_OPT_MAGIC) {
      return options->options[i].value.magic;
    }
  }
  return RT_DEV_BINARY_MAGIC_ELF;
}

bool is_valid(const aclrtBinaryLoadOptions* options) {
  return options == nullptr || options->numOpt == 0 || options->options != nullptr;
}

bool is_valid(const aclrtLaunchKernelCfg* config) {
  return config == nullptr || config->numAttrs == 0 || config->attrs != nullptr;
}

// The first attribute that says which cores.
rtTaskCfgInfo_t task_of(const aclrtLaunchKernelCfg* config) {
  rtTaskCfgInfo_t task = {};
  for (std::size_t i = 0; config != nullptr && i < config->numAttrs; ++i) {
    if (config->attrs[i].id != ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE) continue;
    task.rev[0] = config->attrs[i].value.engineType == ACL_RT_ENGINE_TYPE_AIC ? 1 : 2;
    break;
  }
  return task;
}

// Whether each place and what it stands for are in the arguments.
bool are_inside(const aclrtPlaceHolderInfo* places, std::size_t count, std::size_t size) {
  for (std::size_t i = 0; i < count; ++i) {
    if (places[i].addrOffset + sizeof(std::uint64_t) > size || places[i].dataOffset > size) {
      return false;
    }
  }
  return true;
}

struct Launch {
  aclrtFuncHandle function;
  std::uint32_t blocks;
  aclrtStream stream;
  const aclrtLaunchKernelCfg* config;
};

constexpr std::uint64_t kArgumentAlignment = 64;  // of what a kernel reads in place

// Where device addresses are, and next to no address of the host's.
constexpr std::uint64_t kDeviceBegin = std::uint64_t{0x20} << 40,
                        kDeviceEnd = std::uint64_t{0x50} << 40;

// Of npusim's own kernels the runtime makes other arguments. They have no object.
bool is_own(aclrtFuncHandle function) {
  std::size_t cube = 0, vector = 0;
  return aclrtGetFunctionSize(function, &cube, &vector) != ACL_SUCCESS || cube + vector == 0;
}

// Arguments in device memory: what earlier work of the stream has left there.
aclError fetch(const void* args, std::size_t size, aclrtStream stream,
               std::vector<std::byte>* bytes) {
  const aclError waited = ask<Call::kCopyTurn>({word(stream)});
  if (waited != ACL_SUCCESS) return waited;
  bytes->resize(size);
  return aclrtMemcpy(bytes->data(), size, args, size, ACL_MEMCPY_DEVICE_TO_HOST);
}

// With arguments that the kernel reads there.
aclError launch_there(const Launch& what, const void* args, std::size_t size) {
  rtArgsEx_t all = {};
  all.args = const_cast<void*>(args);  // which are only read
  all.argsSize = static_cast<std::uint32_t>(size);
  all.isNoNeedH2DCopy = 1;
  const auto task = task_of(what.config);
  return rtKernelLaunchWithHandleV2(what.function, 0, what.blocks, &all, nullptr, what.stream,
                                    &task);
}

static_assert(sizeof(aclrtPlaceHolderInfo) == sizeof(rtHostInputInfo_t));
aclError begin(const Launch& what, const void* args, std::size_t size,
               const aclrtPlaceHolderInfo* places, std::size_t count) {
  if (what.function == nullptr || what.blocks == 0 || (args == nullptr && size != 0) ||
      (places == nullptr && count != 0) || size > UINT32_MAX || count > UINT16_MAX ||
      !are_inside(places, count, size)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  std::vector<std::byte> fetched;
  bool on_device = false;
  if (size != 0 && word(args) >= kDeviceBegin && word(args) < kDeviceEnd) {
    const aclError status = ask_for<Call::kPlace>(&on_device, {word(args)});
    if (status != ACL_SUCCESS) return status;
    // Of no memory at all: the launch says so.
    if (!on_device && !may_be_managed(args, size)) return launch_there(what, args, size);
  }
  if (on_device && (count != 0 || word(args) % kArgumentAlignment != 0 || is_own(what.function))) {
    const aclError status = fetch(args, size, what.stream, &fetched);
    if (status != ACL_SUCCESS) return status;
    args = fetched.data();
    on_device = false;
  }
  if (on_device) return launch_there(what, args, size);
  rtArgsEx_t all = {};
  all.args = const_cast<void*>(args);  // which are only read
  all.argsSize = static_cast<std::uint32_t>(size);
  all.hostInputInfoNum = static_cast<std::uint16_t>(count);
  std::vector<rtHostInputInfo_t> inputs(count);
  if (count != 0) std::memcpy(inputs.data(), places, count * sizeof *places);
  all.hostInputInfoPtr = inputs.data();
  const auto task = task_of(what.config);
  return rtKernelLaunchWithHandleV2(what.function, 0, what.blocks, &all, nullptr, what.stream,
                                    &task);
}

aclError launch(const Launch& what, const void* args, std::size_t size,
                const aclrtPlaceHolderInfo* places, std::size_t count) {
  return launched(begin(what, args, size, places, count), what.stream);
}

}  // namespace

aclError begin_kernel(aclrtFuncHandle function, std::uint32_t blocks, const void* args,
                      std::size_t size, aclrtStream stream) {
  return begin({function, blocks, stream, nullptr}, args, size, nullptr, 0);
}

}  // namespace npu::compat

extern "C" {

aclError aclrtBinaryLoadFromFile(const char* path, aclrtBinaryLoadOptions* options,
                                 aclrtBinHandle* binary) {
  if (path == nullptr || binary == nullptr || !npu::compat::is_valid(options)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  std::vector<std::byte> bytes;
  rtDevBinary_t all = {NPUSIM_RT_MAGIC_BUILT_IN, 0, nullptr, 0};
  if (std::strcmp(path, NPUSIM_BUILT_IN) != 0) {
    if (!npu::compat::read_file(path, &bytes)) return ACL_ERROR_INVALID_PARAM;
    all = {npu::compat::magic_of(options), 0, bytes.data(), bytes.size()};
  }
  return rtDevBinaryRegister(&all, binary);
}

aclError aclrtBinaryLoadFromData(const void* data, size_t size,
                                 const aclrtBinaryLoadOptions* options, aclrtBinHandle* binary) {
  if (data == nullptr || size == 0 || binary == nullptr || !npu::compat::is_valid(options)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const rtDevBinary_t all = {npu::compat::magic_of(options), 0, data, size};
  return rtDevBinaryRegister(&all, binary);
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binary) {
  if (binary == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtDevBinaryUnRegister(binary);
}

aclError aclrtBinaryGetFunction(aclrtBinHandle binary, const char* name,
                                aclrtFuncHandle* function) {
  if (binary == nullptr || name == nullptr || function == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtsFuncGetByName(binary, name, function);
}

aclError aclrtLaunchKernel(aclrtFuncHandle function, uint32_t blocks, const void* args, size_t size,
                           aclrtStream stream) {
  return npu::compat::launch({function, blocks, stream, nullptr}, args, size, nullptr, 0);
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle function, uint32_t blocks, const void* args,
                             size_t size, aclrtLaunchKernelCfg* config, aclrtStream stream) {
  if (!npu::compat::is_valid(config)) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::launch({function, blocks, stream, config}, args, size, nullptr, 0);
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg* config, aclrtArgsHandle args,
                                     void* reserved) {
  if (!npu::compat::is_valid(config) || args == nullptr || reserved != nullptr) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const auto* const all = npu::compat::arguments_of(args);
  if (all == nullptr || !all->finalized) return ACL_ERROR_INVALID_PARAM;
  const auto made = npu::compat::assembled(*all);
  return npu::compat::launch({function, blocks, stream, config}, made.bytes.data(),
                             made.bytes.size(), made.places.data(), made.places.size());
}

aclError aclrtLaunchKernelWithArgsArray(void* function, uint32_t blocks, aclrtStream stream,
                                        aclrtLaunchKernelCfg* config, void** args) {
  if (function == nullptr || !npu::compat::is_valid(config)) return ACL_ERROR_INVALID_PARAM;
  auto* const known = npu::compat::function_of(function);
  if (known != nullptr) function = known;
  std::vector<npu::compat::wire::KernelParameter> parameters;
  const aclError status = npu::compat::parameters_of(function, &parameters);
  if (status != ACL_SUCCESS) return status;
  if (args == nullptr && !parameters.empty()) return ACL_ERROR_INVALID_PARAM;
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (args[i] == nullptr) return ACL_ERROR_INVALID_PARAM;
    bytes.resize(parameters[i].offset + parameters[i].size);
    std::memcpy(bytes.data() + parameters[i].offset, args[i], parameters[i].size);
  }
  return npu::compat::launch({function, blocks, stream, config}, bytes.data(), bytes.size(),
                             nullptr, 0);
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle function, uint32_t blocks,
                                       aclrtStream stream, aclrtLaunchKernelCfg* config, void* args,
                                       size_t size, aclrtPlaceHolderInfo* places, size_t count) {
  if (!npu::compat::is_valid(config)) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::launch({function, blocks, stream, config}, args, size, places, count);
}

}  // extern "C"
