// SPDX-License-Identifier: Apache-2.0
// A signal that counts what a stream records. It goes when nobody waits for it any more: its slot
// is not another's while a wait for it is in flight.
#pragma once

#include <cstdint>
#include <memory>

#include "npu/driver/signal.hpp"

namespace npu::driver {

class StreamSignal {
 public:
  static Result<std::shared_ptr<StreamSignal>> make(Signals& signals) {
    const auto id = signals.create();
    if (!id) return forward_error(id);
    return std::make_shared<StreamSignal>(signals, *id);
  }
  StreamSignal(Signals& signals, SignalId id) : signals_(signals), id_(id) {}
  ~StreamSignal() { static_cast<void>(signals_.destroy(id_)); }
  StreamSignal(const StreamSignal&) = delete;
  StreamSignal& operator=(const StreamSignal&) = delete;

  SignalId id() const { return id_; }
  // Of the next record.
  std::uint64_t next() { return ++value_; }
  std::uint64_t last() const { return value_; }
  // All records that were submitted count as made: what would have made them is gone.
  void make_all() { static_cast<void>(signals_.raise(id_, value_)); }

 private:
  Signals& signals_;
  const SignalId id_;
  std::uint64_t value_ = 1;  // as signals begin
};

}  // namespace npu::driver
