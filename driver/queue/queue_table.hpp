// SPDX-License-Identifier: Apache-2.0
// The queues that a process has on the card, by id. Its users lock it.
#pragma once

#include <memory>
#include <vector>

#include "driver/queue/queue_record.hpp"

namespace npu::driver {

class QueueTable {
 public:
  using Records = std::vector<std::unique_ptr<QueueRecord>>;

  const Records& records() const { return records_; }
  bool empty() const { return records_.empty(); }
  // Null: there is none.
  QueueRecord* find(QueueId id) const;
  // Of those that nobody is destroying.
  std::size_t count() const;
  // Submitted to queues that are there, and to those that were.
  std::uint64_t entries() const;

  void add(std::unique_ptr<QueueRecord> record);
  std::unique_ptr<QueueRecord> take(const QueueRecord& record);

 private:
  Records records_;
  std::uint64_t entries_gone_ = 0;
};

}  // namespace npu::driver
