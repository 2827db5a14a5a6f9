// SPDX-License-Identifier: Apache-2.0
// Streams whose launches return when the work has ended: by ASCEND_RT_LAUNCH_BLOCKING, which is
// read once, or by the stream's own mode.
#pragma once

#include <acl/acl_rt.h>

#include <cstddef>
#include <cstdint>

namespace npu::compat {

// What the launch with that status returns: of one that has begun the status of the wait, if the
// stream's launches wait now.
aclError launched(aclError status, aclrtStream stream);
// As aclrtLaunchKernel(), without that wait.
aclError begin_kernel(aclrtFuncHandle function, std::uint32_t blocks, const void* args,
                      std::size_t size, aclrtStream stream);

// Null: the context's own stream. ACL_STREAM_LAUNCH_BLOCKING_MODE_..., of a stream that exists.
aclError set_launch_mode(aclrtStream stream, std::uint32_t mode);
aclError launch_mode(aclrtStream stream, std::uint32_t* mode);

}  // namespace npu::compat
