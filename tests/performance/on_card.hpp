// SPDX-License-Identifier: Apache-2.0
// A benchmark's program on the simulated 910B.
#pragma once

#include "npu/base/result.hpp"
#include "npu/platform/platform.hpp"
#include "tests/performance/isolated.hpp"

namespace npu::bench {

// Runs `program` on a machine made from configs/910b.yaml. It fills in what it measured; a failure
// is printed on stderr and leaves seconds < 0.
// Whether what driver and firmware execute is counted and takes time.
enum class Software { kCounted, kFree };

Measurement measure_on_card(
    const std::function<Status(platform::Platform& platform, Measurement& measured)>& program,
    Software software = Software::kCounted);

}  // namespace npu::bench
