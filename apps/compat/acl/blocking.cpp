// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/acl/blocking.hpp"

#include <acl/acl_rt_more.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include "apps/compat/acl/direct.hpp"

namespace npu::compat {
namespace {

struct LaunchMode {
  std::uint32_t mode = ACL_STREAM_LAUNCH_BLOCKING_MODE_CTRL_BY_ENV;
  std::uint32_t sections = 0;  // begun and not ended: launches return at once
};

// Left alone at the process' end: threads may still be in calls.
struct LaunchModes {
  std::mutex lock;
  std::map<aclrtStream, LaunchMode> of_streams;
  std::atomic<bool> any{false};
};

LaunchModes& modes() {
  static auto* const kAll = new LaunchModes;
  return *kAll;
}

bool environment_blocks() {
  static const bool kBlocks = [] {
    const char* const text = std::getenv("ASCEND_RT_LAUNCH_BLOCKING");
    return text != nullptr && std::string_view(text) == "1";
  }();
  return kBlocks;
}

// The stream itself, for the context's own one, too.
aclError find(aclrtStream* stream) {
  if (*stream == nullptr) return aclrtCtxGetCurrentDefaultStream(stream);
  std::int32_t number = 0;
  return aclrtStreamGetId(*stream, &number);
}

bool mode_blocks(aclrtStream stream) {
  auto& all = modes();
  const std::lock_guard<std::mutex> held(all.lock);
  const auto found = all.of_streams.find(stream);
  const LaunchMode mode = found == all.of_streams.end() ? LaunchMode{} : found->second;
  if (mode.sections != 0) return false;
  return mode.mode == ACL_STREAM_LAUNCH_BLOCKING_MODE_CTRL_BY_ENV
             ? environment_blocks()
             : mode.mode == ACL_STREAM_LAUNCH_BLOCKING_MODE_BLOCKING;
}

}  // namespace

aclError launched(aclError status, aclrtStream stream) {
  constexpr std::uint64_t kNever =
      ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;
  if (status != ACL_SUCCESS || (!environment_blocks() && !modes().any.load())) return status;
  if (find(&stream) != ACL_SUCCESS || !mode_blocks(stream)) return status;
  Answer<Call::kStreamInfo> info;
  if (const auto wrong = ask<Call::kStreamInfo>({word(stream)}, &info); wrong != ACL_SUCCESS) {
    return wrong;
  }
  if ((info.flags & kNever) != 0 || info.in_model != 0) return status;
  return aclrtSynchronizeStream(stream);
}

aclError set_launch_mode(aclrtStream stream, std::uint32_t mode) {
  if (mode > ACL_STREAM_LAUNCH_BLOCKING_MODE_BLOCKING) return ACL_ERROR_RT_PARAM_INVALID;
  if (const auto wrong = find(&stream); wrong != ACL_SUCCESS) return wrong;
  auto& all = modes();
  const std::lock_guard<std::mutex> held(all.lock);
  all.of_streams[stream].mode = mode;
  all.any = true;
  return ACL_SUCCESS;
}

aclError launch_mode(aclrtStream stream, std::uint32_t* mode) {
  if (const auto wrong = find(&stream); wrong != ACL_SUCCESS) return wrong;
  auto& all = modes();
  const std::lock_guard<std::mutex> held(all.lock);
  const auto found = all.of_streams.find(stream);
  *mode = found == all.of_streams.end() ? LaunchMode{}.mode : found->second.mode;
  return ACL_SUCCESS;
}

}  // namespace npu::compat

extern "C" {

aclError aclrtNonBlockingLaunchBegin(aclrtStream stream, uint32_t flag) {
  if (flag != 0) return ACL_ERROR_RT_PARAM_INVALID;
  if (const auto wrong = npu::compat::find(&stream); wrong != ACL_SUCCESS) return wrong;
  auto& all = npu::compat::modes();
  const std::lock_guard<std::mutex> held(all.lock);
  ++all.of_streams[stream].sections;
  return ACL_SUCCESS;
}

aclError aclrtNonBlockingLaunchEnd(aclrtStream stream, uint32_t flag) {
  if (flag != 0) return ACL_ERROR_RT_PARAM_INVALID;
  if (const auto wrong = npu::compat::find(&stream); wrong != ACL_SUCCESS) return wrong;
  {
    auto& all = npu::compat::modes();
    const std::lock_guard<std::mutex> held(all.lock);
    const auto found = all.of_streams.find(stream);
    if (found == all.of_streams.end() || found->second.sections == 0) {
      return ACL_ERROR_RT_PARAM_INVALID;
    }
    if (--found->second.sections != 0) return ACL_SUCCESS;
  }
  return npu::compat::launched(ACL_SUCCESS, stream);
}

}  // extern "C"
