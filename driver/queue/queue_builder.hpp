// SPDX-License-Identifier: Apache-2.0
// What of a new queue needs no lock: options checked, memory, ids, the descriptor. A step that
// fails leaves nothing behind: what was made before it goes away with its owner.
#pragma once

#include "driver/queue/process_resources.hpp"
#include "driver/queue/queue_record.hpp"

namespace npu::driver {

struct QueueDraft {
  std::unique_ptr<QueueRecord> record;
  QueueChannelParts parts;
};

class QueueBuilder {
 public:
  QueueBuilder(QueueManager& manager, ProcessResources& process, const AdaptiveOptions& adaptive)
      : manager_(manager), process_(process), adaptive_(adaptive) {}

  // As ProcessContext::create_queue().
  Result<QueueDraft> prepare(const QueueOptions& wanted);

 private:
  Status check_options(const QueueOptions& wanted) const;
  void fill_descriptor(QueueRecord& record, const QueueChannelParts& parts) const;

  QueueManager& manager_;
  ProcessResources& process_;
  const AdaptiveOptions& adaptive_;
};

// kInvalidArgument: out of range.
Status check_scheduling(unsigned priority, unsigned percentage, Picoseconds quantum,
                        const CoreMask& cores);

}  // namespace npu::driver
