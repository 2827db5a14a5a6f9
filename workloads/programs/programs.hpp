// SPDX-License-Identifier: Apache-2.0
// The workloads that come with npusim, one function per file of this folder.
#pragma once

#include "workloads/framework/registry.hpp"

namespace npu::workloads {

Workload first_tensor();
Workload enumerate();
Workload dma_latency();
Workload dma_bandwidth();
Workload collective();
Workload moe_exchange();
Workload p2p_bandwidth();
Workload ring_pressure();
Workload event_wait();
Workload alloc_churn();
Workload bar0_trap();
Workload identity();
Workload copy_check();
Workload address_faults();
Workload card_loss();
Workload faults();
Workload soak();
Workload compaction();
Workload host_memory();
Workload tlb_sweep();
Workload vmm_map();
Workload hbm_replay();
Workload queue_latency();
Workload queue_scaling();
Workload queue_oversubscription();
Workload queue_isolation();
Workload stream_overlap();
Workload dispatch_latency();
Workload kernel_launch();
Workload matmul();
Workload matmul_kernel();
Workload vector_add();
Workload vector_operator();
Workload operator_run();
Workload network_run();
Workload transformer_run();
Workload graph();
Workload svm_fault();
Workload svm_graph();
Workload svm_oversubscribe();
Workload svm_prefetch();
Workload svm_read_mostly();
Workload svm_touch();
Workload share_fairness();
Workload share_oversubscribe();
Workload share_quota();
Workload share_update();
Workload vf_isolation();
Workload vf_share();
Workload vf_templates();

// Those of them that need no simulator, in the order of programs/card_workloads.cpp.
const Registry& card_workloads();

}  // namespace npu::workloads
