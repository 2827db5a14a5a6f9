// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/hal/outcome.hpp"

namespace npu::compat {

drvError_t hal_error(int code) {
  switch (code) {
    case 0:
      return DRV_ERROR_NONE;
    case kNoServer:
      return channel_of_this_thread() == nullptr ? DRV_ERROR_NO_DEVICE : DRV_ERROR_INNER_ERR;
    case kInvalidParameter:
    case kRuntimeParameter:
      return DRV_ERROR_INVALID_VALUE;
    case 107001:  // device
    case 107002:  // context
      return DRV_ERROR_INVALID_DEVICE;
    case 107017:
      return DRV_ERROR_INVALID_HANDLE;
    case kBadAllocation:
    case 207001:
      return DRV_ERROR_OUT_OF_MEMORY;
    case 207005:
    case 207008:
      return DRV_ERROR_NO_RESOURCES;
    case kNotSupported:
    case 207000:
      return DRV_ERROR_NOT_SUPPORT;
    default:
      return DRV_ERROR_INNER_ERR;
  }
}

}  // namespace npu::compat
