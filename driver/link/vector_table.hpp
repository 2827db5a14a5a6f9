// SPDX-License-Identifier: Apache-2.0
// The card's MSI-X vectors. Streams take them from the lowest on, compute queues from the highest
// down; with few vectors they share them, and whoever is woken looks whether it was meant.
#pragma once

#include <memory>
#include <vector>

#include "driver/link/card_link.hpp"
#include "driver/link/leased_vector.hpp"
#include "driver/support/spin_lock.hpp"

namespace npu::driver {

class VectorTable {
 public:
  explicit VectorTable(CardLink& link)
      : link_(link),
        mutex_(link.platform().tasks().make_mutex()),
        vectors_(link.card().msix.vectors) {}

  unsigned size() const { return link_.card().msix.vectors; }
  // Opened at the first call, and open until close(); the object stays as long as the table.
  // kInvalidArgument: after close().
  Result<platform::InterruptVector*> open(unsigned number) {
    const MutexHolder holder(*mutex_);
    if (closed_) return fail(ErrorCode::kInvalidArgument, "the device is shut down");
    auto& vector = vectors_[number];
    if (!vector.is_open()) {
      auto opened = link_.platform().open_vector(link_.bdf(), number);
      if (!opened) return forward_error(opened);
      vector.open(std::move(*opened));
    }
    return &vector;
  }
  // Whoever sleeps on one wakes up with kAborted.
  void close() {
    const MutexHolder holder(*mutex_);
    closed_ = true;
    for (auto& vector : vectors_) vector.close(link_.clock());
  }

 private:
  CardLink& link_;
  std::unique_ptr<platform::Mutex> mutex_;
  std::vector<LeasedVector> vectors_;
  bool closed_ = false;
};

}  // namespace npu::driver
