// SPDX-License-Identifier: Apache-2.0
// Launches. The window has the arguments and, behind them, the places.
#include <runtime/kernel.h>
#include <runtime/rt_model.h>

#include <cstring>

#include "apps/compat/rt/outcome.hpp"
#include "apps/compat/rt/stubs.hpp"

namespace npu::compat {
namespace {

std::uint64_t cores_of(const rtTaskCfgInfo_t* config) {
  if (config == nullptr || config->rev[0] == 0) return wire::kAnyCores;
  return config->rev[0] - std::uint64_t{1};
}

struct What {
  const void* function;
  std::uint32_t blocks;
  rtStream_t stream;
  const rtTaskCfgInfo_t* config;
};

rtError_t launch(const What& what, const rtArgsEx_t& args) {
  const std::size_t size = args.argsSize, given = args.hostInputInfoNum;
  if (what.function == nullptr || what.blocks == 0 || (args.args == nullptr && size != 0) ||
      (args.hostInputInfoPtr == nullptr && given != 0) || size > kWindow / 2 ||
      (what.config != nullptr && what.config->rev[0] > 2)) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  if (args.isNoNeedH2DCopy != 0) {
    if (given != 0 || args.hasTiling != 0) return ACL_ERROR_RT_PARAM_INVALID;
    return rt_ask<Call::kLaunchKernel>({word(what.function), what.blocks, word(what.stream),
                                        cores_of(what.config), size, 0, word(args.args)});
  }
  Channel* const channel = channel_of_this_thread();
  if (channel == nullptr) return kNoServer;
  std::byte* to = channel->window();
  const auto put = [&to](const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    to += bytes;
  };
  put(args.args, size);
  put(args.hostInputInfoPtr, given * sizeof(rtHostInputInfo_t));
  const rtHostInputInfo_t tiling = {args.tilingAddrOffset, args.tilingDataOffset};
  if (args.hasTiling != 0) put(&tiling, sizeof tiling);
  const std::size_t places = given + (args.hasTiling != 0 ? 1 : 0);
  return rt_ask<Call::kLaunchKernel>(
      {word(what.function), what.blocks, word(what.stream), cores_of(what.config), size, places, 0},
      nullptr, size + places * sizeof(rtHostInputInfo_t));
}

// Null arguments: the kernel has none.
rtError_t launch(const What& what, const rtArgsEx_t* args) {
  return launch(what, args == nullptr ? rtArgsEx_t{} : *args);
}

const void* function_of(const void* stub) {
  return stub == nullptr ? nullptr : Stubs::all().function_of(stub);
}

}  // namespace
}  // namespace npu::compat

using npu::compat::function_of;
using npu::compat::launch;

extern "C" {

rtError_t rtKernelLaunchWithHandleV2(void* handle, const uint64_t tiling_key, uint32_t blocks,
                                     rtArgsEx_t* args, rtSmDesc_t* sm, rtStream_t stream,
                                     const rtTaskCfgInfo_t* config) {
  static_cast<void>(tiling_key);
  static_cast<void>(sm);
  return launch({handle, blocks, stream, config}, args);
}

rtError_t rtKernelLaunchWithHandle(void* handle, const uint64_t tiling_key, uint32_t blocks,
                                   rtArgsEx_t* args, rtSmDesc_t* sm, rtStream_t stream,
                                   const void* info) {
  static_cast<void>(tiling_key);
  static_cast<void>(sm);
  static_cast<void>(info);
  return launch({handle, blocks, stream, nullptr}, args);
}

rtError_t rtKernelLaunch(const void* stub, uint32_t blocks, void* args, uint32_t size,
                         rtSmDesc_t* sm, rtStream_t stream) {
  static_cast<void>(sm);
  rtArgsEx_t all{};
  all.args = args;
  all.argsSize = size;
  return launch({function_of(stub), blocks, stream, nullptr}, all);
}

rtError_t rtKernelLaunchWithFlag(const void* stub, uint32_t blocks, rtArgsEx_t* args,
                                 rtSmDesc_t* sm, rtStream_t stream, uint32_t flags) {
  static_cast<void>(sm);
  static_cast<void>(flags);
  return launch({function_of(stub), blocks, stream, nullptr}, args);
}

rtError_t rtKernelLaunchWithFlagV2(const void* stub, uint32_t blocks, rtArgsEx_t* args,
                                   rtSmDesc_t* sm, rtStream_t stream, uint32_t flags,
                                   const rtTaskCfgInfo_t* config) {
  static_cast<void>(sm);
  static_cast<void>(flags);
  return launch({function_of(stub), blocks, stream, config}, args);
}

rtError_t rtAicpuKernelLaunchExWithArgs(const uint32_t, const char* const, const uint32_t,
                                        const rtAicpuArgsEx_t*, rtSmDesc_t* const, const rtStream_t,
                                        const uint32_t) {
  return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

rtError_t rtModelExecute(rtModel_t, rtStream_t, uint32_t) {
  return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

}  // extern "C"
