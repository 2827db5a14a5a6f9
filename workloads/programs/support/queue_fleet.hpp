// SPDX-License-Identifier: Apache-2.0
// Many queues of several processes that are all given the same work at once.
#pragma once

#include <memory>
#include <vector>

#include "workloads/framework/measurement.hpp"
#include "workloads/programs/support/queue_session.hpp"

namespace npu::workloads {

inline constexpr std::uint64_t kQueuesPerProcess = 500;  // one page of doorbells has 511

struct FleetShape {
  std::uint64_t processes = 1;
  std::uint64_t queues = 1;       // of all processes together, dealt out in turn
  std::uint64_t entries = 16;     // per queue
  std::uint64_t loops = 1;        // the whole work again, after all of it is done
  std::uint64_t spin_cycles = 0;  // not 0: entries are kernels of one block that take so long
  driver::QueueOptions options;
};

struct FleetTimes {
  MeasuredSpan all;          // first submission until everything was complete
  MeasuredSpan first;        // until the first queue had all its entries of the first loop complete
  MeasuredSpan longest_gap;  // between two completions of one queue, or from the submission
  Picoseconds elapsed() const { return all.end - all.begin; }
  std::uint64_t maps = 0;  // sums over the queues
  std::uint64_t preemptions = 0;
  std::uint64_t completed = 0;
};

class QueueFleet {
 public:
  static Result<std::unique_ptr<QueueFleet>> make(Context& context, driver::Device& device,
                                                  const FleetShape& shape);
  // Submits everything, one entry per queue in turn, and waits for it.
  Result<FleetTimes> run();
  // Compares what every entry has written, and that each was executed once: kWrongData.
  Status check();
  Status close();

 private:
  struct Member {
    QueueSession* session;
    std::unique_ptr<driver::Queue> queue;
    driver::DeviceAddress memory;  // words: source, then destination
    std::vector<abi::QueueEntry> work;
    std::vector<driver::QueueTicket> tickets;  // of a loop; by place in the completion ring
  };
  class Completions;
  QueueFleet(Context& context, const FleetShape& shape) : context_(context), shape_(shape) {}
  Status add_member(QueueSession& session, std::uint64_t number);
  Status submit_all();
  Status wait_for_all();
  Picoseconds longest_work() const;
  Status make_work(Member& member);
  Bytes row_bytes() const { return shape_.entries * sizeof(std::uint64_t); }

  Context& context_;
  FleetShape shape_;
  std::vector<std::unique_ptr<QueueSession>> sessions_;
  std::vector<Member> members_;
};

}  // namespace npu::workloads
