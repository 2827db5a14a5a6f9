// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/programs.hpp"

namespace npu::workloads {

const Registry& all_workloads() {
  static const Registry kRegistry = [] {
    Registry all;
    for (auto make : {first_tensor,
                      enumerate,
                      dma_latency,
                      dma_bandwidth,
                      p2p_bandwidth,
                      collective,
                      moe_exchange,
                      ring_pressure,
                      event_wait,
                      alloc_churn,
                      bar0_trap,
                      identity,
                      copy_check,
                      address_faults,
                      card_loss,
                      faults,
                      soak,
                      compaction,
                      host_memory,
                      tlb_sweep,
                      vmm_map,
                      hbm_replay,
                      queue_latency,
                      queue_scaling,
                      queue_oversubscription,
                      queue_isolation,
                      stream_overlap,
                      dispatch_latency,
                      kernel_launch,
                      matmul,
                      matmul_kernel,
                      vector_add,
                      vector_operator,
                      operator_run,
                      network_run,
                      transformer_run,
                      graph,
                      svm_fault,
                      svm_graph,
                      svm_oversubscribe,
                      svm_prefetch,
                      svm_read_mostly,
                      svm_touch,
                      share_fairness,
                      share_oversubscribe,
                      share_quota,
                      share_update,
                      vf_isolation,
                      vf_share,
                      vf_templates}) {
      all.add(make());
    }
    return all;
  }();
  return kRegistry;
}

}  // namespace npu::workloads
