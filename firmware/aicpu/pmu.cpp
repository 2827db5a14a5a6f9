// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/pmu.hpp"

#include "npu/abi/pmu.hpp"

namespace npu::firmware {

using abi::CoreControl;
using abi::FastPathEnable;
using abi::PmuControl;
using abi::PmuCounter0;
using abi::PmuCounter0Index;
using abi::PmuTotal;

void start_pmu(const RunView& run, const Worker& worker) {
  if (run.header().pmu_group == 0) return;
  auto& port = run.port();
  const auto& group = abi::pmu_group(run.header().pmu_group);
  port.store_register(worker.physical, FastPathEnable::kOffset, FastPathEnable::kOpen);
  for (unsigned i = 0; i < abi::kPmuCounters; ++i) {
    port.store_register(worker.physical, PmuCounter0Index::kOffset + i * PmuCounter0Index::kStride,
                        group.events[i]);
  }
  port.store_register(worker.physical, CoreControl::kOffset, CoreControl::PmuEnable::kMask);
  port.store_register(worker.physical, PmuControl::kOffset, PmuControl::kEnable);
}

void stop_pmu(const RunView& run, const Worker& worker) {
  if (run.header().pmu_group == 0) return;
  auto& port = run.port();
  // A look at a core that says nothing has closed it (memory_link.cpp).
  port.store_register(worker.physical, FastPathEnable::kOffset, FastPathEnable::kOpen);
  port.store_register(worker.physical, PmuControl::kOffset, 0);
  port.store_register(worker.physical, CoreControl::kOffset, 0);
  port.barrier();
  abi::PmuRecord record;
  record.group = abi::pmu_group(run.header().pmu_group).group;
  record.physical_core = worker.physical;
  record.core_type = static_cast<std::uint32_t>(worker.type);
  for (unsigned i = 0; i < abi::kPmuCounters; ++i) {
    record.counters[i] =
        port.load_register(worker.physical, PmuCounter0::kOffset + i * PmuCounter0::kStride);
  }
  const std::uint64_t low = port.load_register(worker.physical, PmuTotal::kOffset);
  const std::uint64_t high = port.load_register(worker.physical, PmuTotal::kOffset + 4);
  record.clocks = high << 32 | low;
  port.write(run.header().pmu + worker.index * sizeof record, &record, sizeof record);
  port.store_register(worker.physical, FastPathEnable::kOffset, FastPathEnable::kClosed);
}

}  // namespace npu::firmware
