// SPDX-License-Identifier: Apache-2.0
// Blocks of random size and lifetime at high occupancy, on a device that compacts on demand.
#pragma once

#include "workloads/framework/figures.hpp"

namespace npu::workloads {

// Parameters: rounds, occupancy, max_size, window, card. After every step free and used memory must
// be the card; every block's contents are compared before it is freed.
Status churn_with_compaction(Context& context);
std::vector<FigureRow> churn_figures();

}  // namespace npu::workloads
