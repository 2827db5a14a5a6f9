// SPDX-License-Identifier: Apache-2.0
// Virtual devices in the structures of dsmi_common_interface.h.
#pragma once

#include <vector>

#include "dsmi/dsmi_common_interface.h"
#include "npu/driver/virtual_functions.hpp"

namespace npu::dsmi {

inline constexpr unsigned kFirstVirtualId = 100, kVirtualIdsPerCard = 16;  // virtualisation.md V3
inline constexpr unsigned kNoVirtualGroup = ~0U;

void put_query(const driver::VirtualDevice& device, dsmi_vdev_query_stru& vdev);
// `all`: those of the card.
void put_total(const std::vector<driver::VirtualDevice>& all, const driver::CardPartition& totals,
               dsmi_soc_total_resource& resource);
void put_free(const std::vector<driver::VirtualDevice>& all, const driver::CardPartition& left,
              dsmi_soc_free_resource& resource);

}  // namespace npu::dsmi
