// SPDX-License-Identifier: Apache-2.0
// The subset of AscendC that kernels compiled by `npusim cc` have (docs/ascendc.md). Functions and
// classes have the names and parameters of that interface; each is the modelled core's own
// instruction. `__global__`, `__gm__` and what says which cores a kernel is for are replaced by
// kernels/ascendc before this is compiled.
#pragma once

#include "npu/ascendc/atomics.hpp"
#include "npu/ascendc/copies.hpp"
#include "npu/ascendc/cubes.hpp"
#include "npu/ascendc/launch.hpp"
#include "npu/ascendc/print.hpp"
#include "npu/ascendc/queues.hpp"
#include "npu/ascendc/vectors.hpp"

#define __aicore__
#define __ubuf__
#define __NPU_ARCH__ 2201
#define GM_ADDR __gm__ std::uint8_t*
#define ASCEND_IS_AIC (npu::ascendc::core_type() != npu::abi::CoreType::kAiv)
#define ASCEND_IS_AIV (npu::ascendc::core_type() != npu::abi::CoreType::kAic)
#define block_idx (AscendC::GetBlockIdx())

using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::int8_t;
using std::size_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;
