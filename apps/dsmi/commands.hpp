// SPDX-License-Identifier: Apache-2.0
// Main commands of dsmi_get_device_info() and dsmi_set_device_info() that have a file of their own,
// and where they put what they tell. Each gives a code.
#pragma once

#include <cstring>

#include "apps/dsmi/session.hpp"

namespace npu::dsmi {

// The caller's buffer.
struct Buffer {
  void* data;
  unsigned* size;

  // All of it or nothing.
  int put(const void* from, std::size_t bytes) const {
    if (bytes > *size) return DSMI_ERROR_PARAMETER;
    if (bytes != 0) std::memcpy(data, from, bytes);
    *size = static_cast<unsigned>(bytes);
    return DSMI_OK;
  }
  template <class T>
  int put(const T& value) const {
    return put(&value, sizeof value);
  }
};

// DSMI_MAIN_CMD_MEMORY, _HCCS and _LP.
int memory_info(CardSession& card, unsigned sub_cmd, const Buffer& buffer);
int hccs_info(CardSession& card, unsigned sub_cmd, const Buffer& buffer);
int low_power_info(CardSession& card, unsigned sub_cmd, const Buffer& buffer);

// DSMI_MAIN_CMD_VDEV_MNG.
int virtual_device_info(Session& session, unsigned device, unsigned sub_cmd, const Buffer& buffer);
int set_virtual_device_info(Session& session, unsigned device, unsigned sub_cmd, const void* data,
                            unsigned size);

// DSMI_MAIN_CMD_EX_COMPUTING.
int get_token(CardSession& card, unsigned sub_cmd, const Buffer& buffer);
int set_token(CardSession& card, unsigned sub_cmd, const void* data, unsigned size);

}  // namespace npu::dsmi
