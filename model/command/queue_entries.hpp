// SPDX-License-Identifier: Apache-2.0
// What entries of a queue say: whether they are well formed, whether they are about what came
// before them, and what they ask of engines and cores.
#pragma once

#include "model/command/command_types.hpp"

namespace npu::model {

bool well_formed(const abi::QueueEntry& entry);
// Of a record or a wait: its signal is in memory, or one of the queue's `slots`.
bool names_signal(const abi::QueueEntry& entry, std::uint32_t slots);
// The opcode is about all that came before.
bool implies_barrier(abi::QueueOpcode opcode);
// A copy or fill.
DmaRequest dma_request(const QueueCommand& command, const QueueFunction& function,
                       const HardwareQueue& queue);
// The launch of the command has all its blocks before it.
void begin_launch(QueueCommand& command);
// The next block of a kernel, on `lanes` cores, of which so many more are out from then on.
KernelBlock next_block(QueueCommand& command, SpaceId space, unsigned lanes);

}  // namespace npu::model
