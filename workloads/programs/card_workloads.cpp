// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/programs.hpp"

namespace npu::workloads {

const Registry& card_workloads() {
  static const Registry kRegistry = [] {
    Registry all;
    for (auto make : {enumerate, identity, alloc_churn, copy_check, ring_pressure, queue_latency,
                      address_faults, card_loss}) {
      all.add(make());
    }
    return all;
  }();
  return kRegistry;
}

}  // namespace npu::workloads
