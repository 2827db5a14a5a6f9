// SPDX-License-Identifier: Apache-2.0
// Why a metric moved, from what else moved.
#pragma once

#include <string>
#include <vector>

#include "tools/reports/compare/comparison.hpp"

namespace npu::reports {

// `changes` are all there are, their `why` is filled: for a metric the part of its breakdown (or
// the limit) that changed most and the accesses per submission that changed; for a counter of the
// host its share by BAR, and the part of a latency that changed most.
void explain(std::vector<Change>& changes);

}  // namespace npu::reports
