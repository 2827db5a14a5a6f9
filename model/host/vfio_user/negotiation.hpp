// SPDX-License-Identifier: Apache-2.0
// VFIO_USER_VERSION: what both sides agree on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/host/vfio_user/protocol.hpp"

namespace npu::model::vfio_user {

struct Agreement {
  std::uint16_t minor = 0;
  std::uint32_t max_data_transfer = kMaxDataTransfer;
  std::uint32_t max_dma_maps = kMaxDmaMaps;
  bool write_multiple = false;
};

// Judges the payload of a client's VERSION. 0, and `reply` is the payload of the answer; or EINVAL
// (another major version, malformed text, no page size in common), after which there is no session.
// The reply names those capabilities only that the client named: for others both sides assume the
// defaults of the specification.
int negotiate(const std::vector<std::byte>& payload, Agreement& agreement, std::string& reply);

}  // namespace npu::model::vfio_user
