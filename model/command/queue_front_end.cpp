// SPDX-License-Identifier: Apache-2.0
#include "model/command/queue_front_end.hpp"

#include "model/config/core_layout.hpp"

namespace npu::model {

QueueFrontEnd::QueueFrontEnd(CommandShared& shared, CardRegisters& registers)
    : function_{shared, registers, registers.function(),
                HardwareQueueTable(registers.function(), registers.partition().doorbell_pages)},
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
  const auto layout = [this, type = config.core.type] {
    return CoreLayout(type, function_.registers.partition().own_clusters());
  };
  bank.on_read<abi::QueueCapability>([this, slots = config.command.slots] {
    return abi::QueueCapability{}
        .set<abi::QueueCapability::Slots>(slots)
        .set<abi::QueueCapability::DoorbellPages>(function_.registers.partition().doorbell_pages);
  });
  bank.on_read<abi::QueueCores>([this, layout] {
    const auto aicpus = function_.registers.partition().own_aicpus().size();
    return abi::QueueCores{}
        .set<abi::QueueCores::AiCores>(layout().cores())
        .set<abi::QueueCores::Aicpus>(static_cast<std::uint32_t>(aicpus));
  });
  bank.on_read<abi::CoreTopology>([layout] {
    return abi::CoreTopology{}
        .set<abi::CoreTopology::Clusters>(layout().clusters())
        .set<abi::CoreTopology::VectorCores>(layout().vector_cores());
  });
  bank.on_read<abi::DoorbellBase>(
      [this] { return abi::DoorbellBase::from_raw(function_.registers.doorbell_base()); });
}

// A function that gets or loses what it has has no processes.
void QueueFrontEnd::partition_changed() {
  if (!in_use()) function_.table.set_pages(function_.registers.partition().doorbell_pages);
}

void QueueFrontEnd::reset() {
  ++function_.epoch;
  management_.reset();
  faults_.reset();
  function_.table.reset();
}

}  // namespace npu::model
