// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/queue_table.hpp"

#include <algorithm>

namespace npu::driver {

QueueRecord* QueueTable::find(QueueId id) const {
  for (const auto& record : records_) {
    if (record->id.value() == id.value) return record.get();
  }
  return nullptr;
}

std::size_t QueueTable::count() const {
  return static_cast<std::size_t>(std::count_if(records_.begin(), records_.end(),
                                                [](const auto& record) { return !record->dying; }));
}

std::uint64_t QueueTable::entries() const {
  std::uint64_t entries = entries_gone_;
  for (const auto& record : records_) entries += record->channel->counters().entries;
  return entries;
}

void QueueTable::add(std::unique_ptr<QueueRecord> record) {
  const auto behind =
      std::upper_bound(records_.begin(), records_.end(), record->id.value(),
                       [](std::uint32_t id, const auto& other) { return id < other->id.value(); });
  records_.insert(behind, std::move(record));
}

std::unique_ptr<QueueRecord> QueueTable::take(const QueueRecord& record) {
  const auto found = std::find_if(records_.begin(), records_.end(),
                                  [&](const auto& other) { return other.get() == &record; });
  auto taken = std::move(*found);
  records_.erase(found);
  entries_gone_ += taken->channel->counters().entries;
  return taken;
}

}  // namespace npu::driver
