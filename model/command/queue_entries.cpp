// SPDX-License-Identifier: Apache-2.0
#include "model/command/queue_entries.hpp"

namespace npu::model {

using abi::QueueOpcode;

bool implies_barrier(QueueOpcode opcode) {
  return opcode == QueueOpcode::kEventRecord || opcode == QueueOpcode::kNotify ||
         opcode == QueueOpcode::kBarrier || opcode == QueueOpcode::kTimestamp;
}

namespace {

bool well_formed_copy(const abi::DmaOperation& operation, const abi::ReducePayload& copy) {
  const auto reduction = static_cast<abi::ReduceOperation>(copy.operation);
  if (operation.target == abi::DmaSide::kCache && copy.destination != 0) return false;
  if (reduction == abi::ReduceOperation::kNone) return copy.size != 0;
  const auto type = static_cast<abi::ElementType>(copy.element);
  if (operation.source != abi::DmaSide::kDevice || operation.target != abi::DmaSide::kDevice ||
      !abi::can_reduce(type, reduction)) {
    return false;
  }
  const auto size = abi::element_size(type);
  return copy.size != 0 && (copy.size | copy.source | copy.destination) % size == 0;
}

// Of 8 bytes that a signal may lie in, if it is in device memory.
bool well_formed_signal(const abi::QueueEntry& entry) {
  if ((entry.flags & abi::kEntryMemorySignal) == 0) return true;
  const bool wait = static_cast<QueueOpcode>(entry.opcode) == QueueOpcode::kEventWait;
  return (wait ? entry.get<abi::MemoryWaitPayload>().address
               : entry.get<abi::MemorySignalPayload>().address) %
             abi::kSignalSize ==
         0;
}

}  // namespace

bool well_formed(const abi::QueueEntry& entry) {
  const auto opcode = static_cast<QueueOpcode>(entry.opcode);
  if (entry.format != abi::kQueueEntryFormat || (entry.flags & ~abi::kEntryFlags) != 0 ||
      abi::to_string(opcode) == "?") {
    return false;
  }
  if ((entry.flags & abi::kEntryHostAddress) != 0 && opcode != QueueOpcode::kTimestamp) {
    return false;
  }
  const bool signal = opcode == QueueOpcode::kEventRecord || opcode == QueueOpcode::kEventWait;
  if ((entry.flags & abi::kEntryMemorySignal) != 0 && !signal) return false;
  if (const auto* const operation = abi::find_dma_operation(entry.opcode)) {
    if (operation->source != abi::DmaSide::kPattern) {
      return well_formed_copy(*operation, entry.get<abi::ReducePayload>());
    }
    const auto fill = entry.get<abi::FillPayload>();
    return fill.size != 0 && fill.size % 4 == 0 && fill.destination % 4 == 0;
  }
  switch (opcode) {
    case QueueOpcode::kLaunchAiCore:
    case QueueOpcode::kLaunchAicpu: {
      const auto launch = entry.get<abi::LaunchPayload>();
      return launch.blocks != 0 && launch.arguments % abi::kQueueEntrySize == 0 &&
             launch.image % abi::kImageAlignment == 0 &&
             launch.argument_bytes <= abi::kMaxArgumentBytes &&
             (opcode == QueueOpcode::kLaunchAiCore ? launch.mixed <= 1
                                                   : launch.mixed == 0 && launch.timeout_us == 0);
    }
    case QueueOpcode::kEventWait:
      return entry.get<abi::WaitPayload>().condition <=
                 static_cast<std::uint32_t>(abi::WaitCondition::kNotEqual) &&
             well_formed_signal(entry);
    case QueueOpcode::kEventRecord:
      return well_formed_signal(entry);
    case QueueOpcode::kTimestamp:
      return entry.get<abi::TimestampPayload>().address % 8 == 0;
    default:
      return true;
  }
}

DmaRequest dma_request(const QueueCommand& command, const QueueFunction& function,
                       const HardwareQueue& queue) {
  DmaRequest dma;
  dma.context = command.handle;
  dma.cause = command.cause;
  dma.dispatched = sim_now();
  dma.function = static_cast<std::uint8_t>(function.number);
  dma.space = function.space(queue.mqd.vmid);
  dma.pasid = queue.mqd.pasid;
  dma.opcode = command.entry.opcode;
  dma.operation = abi::find_dma_operation(dma.opcode);
  if (dma.has_source_address()) {
    const auto copy = command.entry.get<abi::ReducePayload>();
    dma.source = copy.source;
    dma.destination = copy.destination;
    dma.size = copy.size;
    dma.reduction = static_cast<abi::ReduceOperation>(copy.operation);
    dma.element = static_cast<abi::ElementType>(copy.element);
  } else {
    const auto fill = command.entry.get<abi::FillPayload>();
    dma.source = fill.pattern;
    dma.destination = fill.destination;
    dma.size = fill.size;
  }
  return dma;
}

// Both have the slot at the same place.
bool names_signal(const abi::QueueEntry& entry, std::uint32_t slots) {
  return (entry.flags & abi::kEntryMemorySignal) != 0 ||
         entry.get<abi::SignalPayload>().slot < slots;
}

void begin_launch(QueueCommand& command) {
  const auto launch = command.entry.get<abi::LaunchPayload>();
  command.blocks = launch.blocks;
  command.cores = command.opcode() == QueueOpcode::kLaunchAiCore ? launch.cores : 0;
  command.mixed = launch.mixed != 0;
  command.timeout = SimTime{launch.timeout_us} * 1'000'000;
}

KernelBlock next_block(QueueCommand& command, SpaceId space, unsigned lanes) {
  const auto launch = command.entry.get<abi::LaunchPayload>();
  KernelBlock block;
  block.image = launch.image;
  block.block = command.next_block++;
  block.blocks = command.blocks;
  block.arguments = launch.arguments;
  block.argument_bytes = launch.argument_bytes;
  block.vmid = space;
  block.cause = command.cause;
  block.context = command.handle;
  block.mixed = command.mixed;
  block.lanes = lanes;
  command.blocks_out += lanes;
  return block;
}

}  // namespace npu::model
