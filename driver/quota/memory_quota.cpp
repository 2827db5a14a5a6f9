// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/quota.hpp"

#include <algorithm>

#include "driver/support/relaxed.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {

bool MemoryQuota::charge(Bytes size, Kind kind, bool count) {
  Bytes used = used_.load(kRelaxed);
  do {
    const Bytes limit = limit_.load(kRelaxed);
    if (used > limit || size > limit - used) {
      if (count) count_refusal();
      return false;
    }
  } while (!used_.compare_exchange_weak(used, used + size, kRelaxed));
  part(kind).fetch_add(size, kRelaxed);
  return true;
}

void MemoryQuota::force_charge(Bytes size, Kind kind) {
  used_.fetch_add(size, kRelaxed);
  part(kind).fetch_add(size, kRelaxed);
  note_use();
}

void MemoryQuota::uncharge(Bytes size, Kind kind) {
  part(kind).fetch_sub(size, kRelaxed);
  used_.fetch_sub(size, kRelaxed);
}

void MemoryQuota::note_use() {
  const Bytes used = used_.load(kRelaxed);
  Bytes most = most_.load(kRelaxed);
  while (used > most && !most_.compare_exchange_weak(most, used, kRelaxed)) {
  }
}

QuotaUse MemoryQuota::use() const {
  QuotaUse now;
  now.limit = limit();
  now.allocated = allocated_.load(kRelaxed);
  now.managed = managed_.load(kRelaxed);
  now.most = most_.load(kRelaxed);
  now.refused = refused_.load(kRelaxed);
  return now;
}

MemoryStatistics MemoryQuota::seen(MemoryStatistics card) const {
  const Bytes limit = this->limit(), used = used_.load(kRelaxed);
  const Bytes left = used < limit ? limit - used : 0;
  card.total = std::min(card.total, limit);
  card.free = std::min(card.free, align_down(left, kPageSize));
  card.quarantined = std::min(card.quarantined, card.total - std::min(card.total, card.free));
  card.largest_free_block = std::min(card.largest_free_block, card.free);
  card.huge_pages_free = std::min(card.huge_pages_free, card.free / kPageSize);
  constexpr Bytes kGiant = Bytes{1} << 30;
  card.giant_pages_free = std::min(card.giant_pages_free, card.free / kGiant);
  return card;
}

}  // namespace npu::driver
