// SPDX-License-Identifier: Apache-2.0
// A stream: what is submitted runs in its order. It is an in-order compute queue for copies and
// kernels on vector cores, and another one, made when it is needed, for kernels on cube cores; a
// signal keeps the order where work goes from one to the other. Threads may share it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exec/acl/card.hpp"
#include "exec/acl/fault_book.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/queue_entries.hpp"
#include "npu/driver/turns.hpp"

namespace npu::exec::acl {

// One of a stream's queues, which those that wait for an entry of it keep.
struct Lane {
  std::unique_ptr<driver::Queue> queue;
  std::optional<driver::QueueTicket> last;
  std::uint64_t told = 0;  // of its failed entries, those that the program has heard of
};

// What an error of a stream does to the work behind it (aclrtSetStreamFailureMode()).
enum class FailureMode : std::uint8_t { kGoOn, kStop };

// An entry of a stream: it may have other queues before this one has ended.
struct Submitted {
  std::shared_ptr<Lane> lane;
  driver::QueueTicket ticket;
};

// Bytes that the card has written and the program is to see.
struct Landing {
  Submitted by;
  ConstByteSpan from;
  ByteSpan to;
  std::shared_ptr<void> memory;  // that both are of
};

// The cores that kernels of a stream may run on.
using CoreLimits = std::array<std::uint32_t, kCoreKinds>;

class Stream {
 public:
  Stream(platform::Platform& platform, driver::ProcessContext& process, FaultBook& faults,
         const Card& card, const CoreLimits& limits, unsigned priority);

  // kNoStream: all queues in use.
  Outcome open();
  // Behind everything before. kInvalidHandle: the stream has been closed; errors of the driver.
  Value<Submitted> submit(Cores cores, const abi::QueueEntry* entries, std::size_t count);
  // On the queue that the last work is on.
  Value<Submitted> follow(const abi::QueueEntry* entries, std::size_t count);
  void expect(Landing landing) { landings_.push_back(std::move(landing)); }

  // Until everything is done, or an error has stopped the stream. The first error since the last
  // call; `late`: the code when it is not done at `deadline`.
  Outcome wait(Instant deadline, int late);
  // One look.
  Value<bool> is_done();
  // `force`: what has not ended is given up.
  void close(bool force);
  Outcome limit(const CoreLimits& limits);
  const CoreLimits& limits() const { return limits_; }
  // Of what is submitted from now on.
  void set_failure_mode(FailureMode mode) { mode_ = mode; }

 private:
  // What follows is called with the lock held.
  Value<Submitted> append(Cores cores, const abi::QueueEntry* entries, std::size_t count);
  Outcome open_lane(Cores cores);
  Outcome change_to(Cores cores);
  void close_lanes(Instant deadline);
  void land();
  std::shared_ptr<Lane>& lane_of(Cores cores) { return lanes_[static_cast<std::size_t>(cores)]; }

  Outcome failed(const std::shared_ptr<Lane>& lane, const Error& error, int late);
  Outcome over();
  driver::QueueEntryOptions options() const {
    driver::QueueEntryOptions options;
    options.go_on = mode_ == FailureMode::kGoOn;
    return options;
  }

  platform::Clock& clock_;
  driver::ProcessContext& process_;
  FaultBook& faults_;
  const Card& card_;
  CoreLimits limits_;
  const unsigned priority_;
  std::unique_ptr<platform::Mutex> lock_;
  std::array<std::shared_ptr<Lane>, kCoreKinds> lanes_;
  Cores current_ = Cores::kVector;
  std::optional<driver::SignalId> signal_;
  std::uint64_t signal_value_ = 1;
  std::vector<Landing> landings_;
  FailureMode mode_ = FailureMode::kGoOn;
  bool closed_ = false;
};

}  // namespace npu::exec::acl
