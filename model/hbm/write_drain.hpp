// SPDX-License-Identifier: Apache-2.0
// Split queues: whether reads or writes are served. Reads are until the write queue has filled
// beyond write_high_percent or no read waits; writes then until it is below write_low_percent and a
// read waits. With a shared queue there is only one list, and nothing to decide.
#pragma once

#include <cstddef>

#include "model/config/chip_config.hpp"
#include "model/hbm/request_queue.hpp"

namespace npu::model::hbm {

class WriteDrain {
 public:
  explicit WriteDrain(const HbmConfig& config)
      : split_(config.policy == HbmPolicy::kSplitQueues),
        high_(config.write_high_percent * config.write_queue),
        low_(config.write_low_percent * config.write_queue) {}

  // Which of a bank's lists is served: of writes, 1.
  std::size_t list() const { return list_; }
  // Decides anew; true if that changed.
  bool changed(const RequestQueue& queue) {
    if (!split_) return false;
    const unsigned writes = queue.queued(true);
    return (list_ | writes) != 0 && decide(queue.queued(false), writes);
  }
  // A burst that waited alone was served.
  void served_alone(bool write) {
    if (split_) list_ = write ? 1 : 0;
  }

 private:
  bool decide(unsigned reads, unsigned writes);

  bool split_;
  unsigned high_;  // percent of a write queue times its size
  unsigned low_;
  std::size_t list_ = 0;
};

}  // namespace npu::model::hbm
