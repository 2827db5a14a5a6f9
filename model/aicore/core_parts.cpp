// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/core_parts.hpp"

namespace npu::model {

using platform::LocalBuffer;

namespace {

BufferSizes sizes_of(const ProgramCoreConfig& config, abi::CoreType type) {
  const bool cube = type != abi::CoreType::kAiv;
  const bool vector = type != abi::CoreType::kAic;
  BufferSizes sizes{};
  const auto set = [&](LocalBuffer buffer, Bytes size, bool there) {
    sizes[static_cast<std::size_t>(buffer)] = there ? size : 0;
  };
  set(LocalBuffer::kL1, config.l1, cube);
  set(LocalBuffer::kL0a, config.l0a, cube);
  set(LocalBuffer::kL0b, config.l0b, cube);
  set(LocalBuffer::kL0c, config.l0c, cube);
  set(LocalBuffer::kUb, config.ub, vector);
  return sizes;
}

FixpipeWays ways_of(const ProgramCoreConfig& config, abi::CoreType type) {
  FixpipeWays ways;
  if (type != abi::CoreType::kAic && config.ub_to_l1.per_clock != 0) ways.l1_from_ub = config.l1;
  if (type == abi::CoreType::kAiv) return ways;
  if (config.l0c_to_l1.per_clock != 0) ways.l1 = config.l1;
  if (config.l0c_to_ub.per_clock != 0) ways.ub = config.ub;
  if (type == abi::CoreType::kAic) ways.vector_cores = 2;
  ways.scaled_bf16 = config.fixpipe_bf16;
  return ways;
}

}  // namespace

CoreParts::CoreParts(ProgramServices& shared, const std::string& track, unsigned core, Owner& owner)
    : services(shared),
      number(core),
      sizes(sizes_of(shared.config, shared.layout.type(core))),
      ways(ways_of(shared.config, shared.layout.type(core))),
      window(statistics, shared.clock),
      tracks(shared.sim.recorder, track),
      thread(shared.sim, tracks, core, calls, statistics, owner),
      requests(owner, core, calls, statistics),
      polls(shared, window, calls, thread, statistics),
      cross_flags(shared, core, calls, thread, owner) {}

}  // namespace npu::model
