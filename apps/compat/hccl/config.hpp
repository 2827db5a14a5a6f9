// SPDX-License-Identifier: Apache-2.0
// The beginning of a configuration, by which one knows that it was filled in.
#pragma once

#include <hccl/hccl_types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace npu::compat::hccl {

struct ConfigHead {
  std::uint64_t size = sizeof(HcclCommConfig);
  std::uint32_t magic = HCCL_COMM_CONFIG_MAGIC_WORD;
  std::uint32_t version = HCCL_COMM_CONFIG_VERSION;
  std::uint64_t reserved = 0;
};
static_assert(sizeof(ConfigHead) == HCCL_COMM_CONFIG_INFO_BYTES);

inline bool is_initialised(const HcclCommConfig& config) {
  ConfigHead head;
  std::memcpy(&head, config.reserved, sizeof head);
  const ConfigHead wanted;
  return head.magic == wanted.magic && head.size == wanted.size && head.version != 0;
}

}  // namespace npu::compat::hccl
