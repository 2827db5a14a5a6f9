// SPDX-License-Identifier: Apache-2.0
// DCMI's ids and codes in those of DSMI.
#pragma once

#include "dsmi/dcmi_interface_api.h"

namespace npu::dsmi {

constexpr int dcmi_code(int code) {
  switch (code) {
    case DSMI_OK:
      return DCMI_OK;
    case DSMI_ERROR_NO_DEVICE:
    case DSMI_ERROR_NOT_EXIST:
      return DCMI_ERR_CODE_DEVICE_NOT_EXIST;
    case DSMI_ERROR_INVALID_DEVICE:
      return DCMI_ERR_CODE_INVALID_DEVICE_ID;
    case DSMI_ERROR_PARAMETER:
      return DCMI_ERR_CODE_INVALID_PARAMETER;
    case DSMI_ERROR_TIMEOUT:
      return DCMI_ERR_CODE_TIME_OUT;
    case DSMI_ERROR_NOT_SUPPORT:
      return DCMI_ERR_CODE_NOT_SUPPORT;
    default:
      return DCMI_ERR_CODE_INNER_ERR;
  }
}

// `call(logical id)` of the one chip of a card.
template <class Call>
int on_chip(int card, int device, Call call) {
  if (device != 0) return DCMI_ERR_CODE_INVALID_DEVICE_ID;
  return dcmi_code(call(card));
}

}  // namespace npu::dsmi
