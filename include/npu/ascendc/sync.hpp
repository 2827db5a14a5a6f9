// SPDX-License-Identifier: Apache-2.0
// Which core this is, and what orders pipes and cores.
#pragma once

#include "npu/ascendc/types.hpp"

namespace AscendC {

// Of a mixed block every vector core has a number of its own: 2 b and 2 b + 1 of block b.
inline std::int64_t GetBlockIdx() {
  const auto call = npu::ascendc::call();
  return call.role == 0 ? call.block : std::int64_t{call.block} * 2 + call.role - 1;
}
inline std::int64_t GetBlockNum() {
  return npu::ascendc::call().blocks;
}
// Of the vector cores of a mixed block.
inline std::int64_t GetSubBlockIdx() {
  const auto role = npu::ascendc::call().role;
  return role == 0 ? 0 : role - 1;
}
inline std::int64_t GetSystemCycle() {
  return static_cast<std::int64_t>(
      npu::ascendc::on_core([](auto& port) { return port.system_counter(); }));
}
// Nothing has a state here that a kernel inherits.
inline void InitSocState() {}

template <HardEvent kEvent>
void SetFlag(int id) {
  constexpr auto kPair = npu::ascendc::pipes_of(kEvent);
  npu::ascendc::set_flag(kPair.from, kPair.to, static_cast<unsigned>(id));
}
template <HardEvent kEvent>
void WaitFlag(int id) {
  constexpr auto kPair = npu::ascendc::pipes_of(kEvent);
  npu::ascendc::wait_flag(kPair.from, kPair.to, static_cast<unsigned>(id));
}

// PIPE_S waits for itself: nothing to do.
template <pipe_t kPipe>
void PipeBarrier() {
  if constexpr (kPipe != PIPE_S) {
    npu::ascendc::pipe_barrier(static_cast<npu::ascendc::Pipe>(kPipe));
  }
}

// Modes: 0: all cores of one type; 2: a cube core and its vector cores.
template <std::uint8_t kMode, pipe_t kPipe>
void CrossCoreSetFlag(std::uint16_t flag) {
  static_assert(kMode == 0 || kMode == 2, "modes 0 and 2 are modelled");
  constexpr auto kScope =
      kMode == 0 ? npu::ascendc::CrossScope::kSameType : npu::ascendc::CrossScope::kCluster;
  npu::ascendc::on_core([&](auto& port) {
    port.set_cross_flag(static_cast<npu::ascendc::Pipe>(kPipe), kScope, flag);
  });
}
template <std::uint8_t kMode, pipe_t kPipe = PIPE_S>
void CrossCoreWaitFlag(std::uint16_t flag) {
  static_assert(kMode == 0 || kMode == 2, "modes 0 and 2 are modelled");
  constexpr auto kScope =
      kMode == 0 ? npu::ascendc::CrossScope::kSameType : npu::ascendc::CrossScope::kCluster;
  npu::ascendc::on_core([&](auto& port) {
    port.wait_cross_flag(static_cast<npu::ascendc::Pipe>(kPipe), kScope, flag);
  });
}

}  // namespace AscendC
