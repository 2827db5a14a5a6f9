// SPDX-License-Identifier: Apache-2.0
#include "model/command/queue_front_end.hpp"

#include "model/config/core_layout.hpp"

namespace npu::model {

QueueFrontEnd::QueueFrontEnd(CommandShared& shared, CardRegisters& registers)
    : function_{shared, registers, registers.function(),
                QueueTable(registers.function(),
                           shared.config.partition(registers.function()).doorbell_pages)},
      faults_(function_),
      doorbells_(function_),
      management_(function_) {
  function_.faults = &faults_;
  shared.functions.push_back(&function_);
  install_constants();
  if (shared.config.command.slots > 0) management_.install_hooks();
}

// As hooks, which outlive a reset.
void QueueFrontEnd::install_constants() {
  auto& bank = function_.registers.bank();
  const auto& config = function_.shared.config;
  const auto share = config.partition(function_.number);
  const auto capability = abi::QueueCapability{}
                              .set<abi::QueueCapability::Slots>(config.command.slots)
                              .set<abi::QueueCapability::DoorbellPages>(share.doorbell_pages);
  const CoreLayout layout(config.core.type, share.clusters);
  const auto cores = abi::QueueCores{}
                         .set<abi::QueueCores::AiCores>(layout.cores())
                         .set<abi::QueueCores::Aicpus>(share.aicpus);
  const auto topology = abi::CoreTopology{}
                            .set<abi::CoreTopology::Clusters>(layout.clusters())
                            .set<abi::CoreTopology::VectorCores>(layout.vector_cores());
  const auto base = abi::DoorbellBase::from_raw(function_.registers.doorbell_base());
  bank.on_read<abi::QueueCapability>([capability] { return capability; });
  bank.on_read<abi::QueueCores>([cores] { return cores; });
  bank.on_read<abi::CoreTopology>([topology] { return topology; });
  bank.on_read<abi::DoorbellBase>([base] { return base; });
}

void QueueFrontEnd::reset() {
  ++function_.epoch;
  management_.reset();
  faults_.reset();
  function_.table.reset();
}

}  // namespace npu::model
