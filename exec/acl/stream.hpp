// SPDX-License-Identifier: Apache-2.0
// A stream: what is submitted runs in its order. It is an in-order compute queue for copies and
// kernels on vector cores, and another one, made when it is needed, for kernels on cube cores; a
// signal keeps the order where work goes from one to the other.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exec/acl/card.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/queue_entries.hpp"
#include "npu/driver/turns.hpp"

namespace npu::exec::acl {

// One of a stream's queues, which those that wait for an entry of it keep.
struct Lane {
  std::unique_ptr<driver::Queue> queue;
  std::optional<driver::QueueTicket> last;
};

// Bytes that the card has written and the program is to see.
struct Landing {
  std::shared_ptr<Lane> lane;
  driver::QueueTicket ticket;
  ConstByteSpan from;
  ByteSpan to;
  std::shared_ptr<void> memory;  // that both are of
};

// The cores that kernels of a stream may run on.
using CoreLimits = std::array<std::uint32_t, kCoreKinds>;

class Stream {
 public:
  Stream(driver::ProcessContext& process, platform::Clock& clock, const Card& card,
         const CoreLimits& limits, unsigned priority);

  // kNoStream: all queues in use.
  Outcome open();
  // Behind everything before. Errors of the driver.
  Value<driver::QueueTicket> submit(Cores cores, const abi::QueueEntry* entries, std::size_t count);
  Value<driver::QueueTicket> submit(Cores cores, const abi::QueueEntry& entry) {
    return submit(cores, &entry, 1);
  }
  // On the queue that the last work is on.
  Value<driver::QueueTicket> follow(const abi::QueueEntry* entries, std::size_t count) {
    return submit(current_, entries, count);
  }
  void expect(Landing landing) { landings_.push_back(std::move(landing)); }
  std::shared_ptr<Lane> lane() const { return lanes_[static_cast<std::size_t>(current_)]; }

  // Until everything is done. `late`: the code when it is not at `deadline`.
  Outcome wait(Instant deadline, int late);
  // One look.
  Value<bool> is_done();
  // `force`: what has not ended is given up.
  void close(bool force);
  Outcome limit(const CoreLimits& limits);
  const CoreLimits& limits() const { return limits_; }

 private:
  Outcome open_lane(Cores cores);
  Outcome change_to(Cores cores);
  Outcome failed(const Error& error, int late);
  void renew();
  void land();

  driver::ProcessContext& process_;
  platform::Clock& clock_;
  const Card& card_;
  CoreLimits limits_;
  const unsigned priority_;
  std::array<std::shared_ptr<Lane>, kCoreKinds> lanes_;
  Cores current_ = Cores::kVector;
  std::optional<driver::SignalId> signal_;
  std::uint64_t signal_value_ = 1;
  std::vector<Landing> landings_;
};

}  // namespace npu::exec::acl
