// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <acl/npusim_kernels.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "compat/acl/kernel_arguments.hpp"
#include "compat/client/request.hpp"

namespace npu::compat {
namespace {

constexpr std::uint64_t kAnyCores = UINT64_MAX;

// Into the window; -1: it cannot be read, or is larger than that.
ssize_t read_file(const char* path, std::byte* window) {
  int file = -1;
  do {
    file = ::open(path, O_RDONLY | O_CLOEXEC);
  } while (file < 0 && errno == EINTR);
  if (file < 0) return -1;
  std::size_t size = 0;
  ssize_t got = 1;
  while (got > 0 && size < kWindow) {
    got = ::read(file, window + size, kWindow - size);
    if (got > 0) size += static_cast<std::size_t>(got);
    if (got < 0 && errno == EINTR) got = 1;
  }
  ::close(file);
  return got < 0 || size == kWindow ? -1 : static_cast<ssize_t>(size);
}

// Which cores a binary of this magic is for: an aclrtEngineType.
std::uint64_t cores_of(const aclrtBinaryLoadOptions* options) {
  for (std::size_t i = 0; options != nullptr && i < options->numOpt; ++i) {
    if (options->options[i].type != ACL_RT_BINARY_LOAD_OPT_MAGIC) continue;
    if (options->options[i].value.magic == ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE) return 0;
    if (options->options[i].value.magic == ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE) return 1;
  }
  return kAnyCores;
}

std::uint64_t cores_of(const aclrtLaunchKernelCfg* config) {
  for (std::size_t i = 0; config != nullptr && i < config->numAttrs; ++i) {
    if (config->attrs[i].id == ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE) {
      return static_cast<std::uint64_t>(config->attrs[i].value.engineType);
    }
  }
  return kAnyCores;
}

bool is_valid(const aclrtLaunchKernelCfg* config) {
  return config == nullptr || config->numAttrs == 0 || config->attrs != nullptr;
}

struct Launch {
  aclrtFuncHandle function;
  std::uint32_t blocks;
  aclrtStream stream;
  std::uint64_t cores;
};

// The window has the arguments and, behind them, the places.
int launch(const Launch& what, const void* args, std::size_t size,
           const aclrtPlaceHolderInfo* places, std::size_t count) {
  if (what.function == nullptr || what.blocks == 0) return ACL_ERROR_INVALID_PARAM;
  if ((args == nullptr && size != 0) || (places == nullptr && count != 0)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const std::size_t bytes = size + count * sizeof(aclrtPlaceHolderInfo);
  if (size > kWindow / 2 || count > kWindow / 2 / sizeof(aclrtPlaceHolderInfo)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  Channel* const channel = channel_of_this_thread();
  if (channel == nullptr) return kNoServer;
  if (size != 0) std::memcpy(channel->window(), args, size);
  if (count != 0) {
    std::memcpy(channel->window() + size, places, count * sizeof(aclrtPlaceHolderInfo));
  }
  return ask(Call::kLaunchKernel,
             {word(what.function), what.blocks, word(what.stream), what.cores, size, count}, bytes);
}

}  // namespace
}  // namespace npu::compat

using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::Channel;
using npu::compat::channel_of_this_thread;
using npu::compat::cores_of;
using npu::compat::word;

extern "C" {

aclError aclrtBinaryLoadFromFile(const char* path, aclrtBinaryLoadOptions* options,
                                 aclrtBinHandle* binary) {
  if (path == nullptr || binary == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (options != nullptr && options->numOpt != 0 && options->options == nullptr) {
    return ACL_ERROR_INVALID_PARAM;
  }
  Channel* const channel = channel_of_this_thread();
  if (channel == nullptr) return npu::compat::kNoServer;
  const bool built_in = std::strcmp(path, NPUSIM_BUILT_IN) == 0;
  ssize_t size = 0;
  if (!built_in) size = npu::compat::read_file(path, channel->window());
  if (size < 0) return ACL_ERROR_INVALID_PARAM;
  const auto bytes = static_cast<std::size_t>(size);
  const int status = ask(Call::kBinaryLoad, {built_in ? 1U : 0U, bytes, cores_of(options)}, bytes);
  if (status == ACL_SUCCESS) *binary = npu::compat::pointer(npu::compat::answer());
  return status;
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binary) {
  if (binary == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kBinaryUnload, {word(binary)});
}

aclError aclrtBinaryGetFunction(aclrtBinHandle binary, const char* name,
                                aclrtFuncHandle* function) {
  if (binary == nullptr || name == nullptr || function == nullptr) return ACL_ERROR_INVALID_PARAM;
  Channel* const channel = channel_of_this_thread();
  if (channel == nullptr) return npu::compat::kNoServer;
  constexpr std::size_t kLongest = 4096;
  const std::size_t size = ::strnlen(name, kLongest);
  std::memcpy(channel->window(), name, size);
  const int status = ask(Call::kBinaryGetFunction, {word(binary), size}, size);
  if (status == ACL_SUCCESS) *function = npu::compat::pointer(npu::compat::answer());
  return status;
}

aclError aclrtLaunchKernel(aclrtFuncHandle function, uint32_t blocks, const void* args, size_t size,
                           aclrtStream stream) {
  return npu::compat::launch({function, blocks, stream, npu::compat::kAnyCores}, args, size,
                             nullptr, 0);
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg* config, aclrtArgsHandle args,
                                     void* reserved) {
  if (!npu::compat::is_valid(config) || args == nullptr || reserved != nullptr) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const auto& all = *static_cast<const npu::compat::KernelArguments*>(args);
  if (!all.finalized) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::launch({function, blocks, stream, cores_of(config)}, all.bytes.data(),
                             all.bytes.size(), all.places.data(), all.places.size());
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle function, uint32_t blocks,
                                       aclrtStream stream, aclrtLaunchKernelCfg* config, void* args,
                                       size_t size, aclrtPlaceHolderInfo* places, size_t count) {
  if (!npu::compat::is_valid(config)) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::launch({function, blocks, stream, cores_of(config)}, args, size, places,
                             count);
}

}  // extern "C"
