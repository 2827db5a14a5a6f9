// SPDX-License-Identifier: Apache-2.0
// Clients that share a card's cores in time (npu/driver/time_slices.hpp): each a process with an
// in-order queue of kernels that take so many cycles.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "npu/driver/time_slices.hpp"
#include "workloads/programs/support/queue_session.hpp"
#include "workloads/programs/support/sharing_keys.hpp"

namespace npu::workloads {

class SharingClient {
 public:
  static Result<std::unique_ptr<SharingClient>> open(Context& context, driver::Device& device,
                                                     std::string name, std::uint64_t cycles,
                                                     std::uint32_t blocks,
                                                     std::shared_ptr<driver::MemoryQuota> quota);

  const std::string& name() const { return name_; }
  QueueSession& session() { return *session_; }
  driver::ProcessContext& process() { return session_->process(); }
  driver::Queue& queue() { return *queue_; }
  // From now on in turns; null: whenever it wants.
  Status join(driver::TimeSliceScheduler& scheduler, const driver::CoreQuota& share);
  driver::TimeSliceClient* turn() { return turn_.get(); }
  // Launches until `end`, a few always in flight; how many were done by then.
  Result<std::uint64_t> run_until(Instant end);
  // What the loop above has done so far.
  std::uint64_t done() const { return done_; }
  // What it has left in flight.
  Status drain();
  Status leave();
  Status close();

 private:
  explicit SharingClient(Context& context, std::string name)
      : context_(context), name_(std::move(name)) {}
  Status take_done();

  static constexpr std::size_t kDepth = 64;

  Context& context_;
  const std::string name_;
  std::unique_ptr<QueueSession> session_;
  std::unique_ptr<driver::Queue> queue_;
  std::unique_ptr<driver::TimeSliceClient> turn_;
  abi::QueueEntry kernel_;
  std::deque<driver::QueueTicket> in_flight_;
  std::uint64_t done_ = 0;
};

// All of them at once, each a task, until `end`; how many launches of each were done.
Result<std::vector<std::uint64_t>> run_together(
    Context& context, std::vector<std::unique_ptr<SharingClient>>& clients, Instant end);

}  // namespace npu::workloads
