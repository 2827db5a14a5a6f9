// SPDX-License-Identifier: Apache-2.0
// Two processes at work and a third one that attacks, on one card.
#pragma once

#include <memory>
#include <vector>

#include "kernels/device/shipped/elementwise.hpp"
#include "workloads/programs/support/queue_session.hpp"

namespace npu::workloads {

class IsolationScene {
 public:
  using Attack = Status (*)(IsolationScene& scene);
  // Lets the neighbours work, meanwhile the attack happen (null: none), and everything end.
  static Result<std::unique_ptr<IsolationScene>> play(Context& context, driver::Device& device,
                                                      Attack attack);

  // For attacks. Doorbells as numbers in a page; what is rung is the attacker's own page.
  std::uint16_t own_doorbell() const { return attacker_queue_->doorbell(); }
  std::uint16_t neighbour_doorbell() const;
  driver::DeviceAddress own_memory() const { return own_memory_; }
  driver::DeviceAddress neighbour_memory() const;
  platform::BusAddress neighbour_host() const;
  platform::BusAddress neighbour_ring() const { return neighbours_.front().ring; }
  platform::BusAddress neighbour_completions() const { return neighbours_.front().completions; }
  Status ring(std::uint16_t doorbell, std::uint64_t value);
  Status submit(const abi::QueueEntry& entry);                     // does not wait
  Status submit_kernel(const kernels::vector::Elementwise& work);  // one block
  Status run_one(const abi::QueueEntry& entry);                    // waits

  // Afterwards.
  const std::vector<driver::QueueFault>& attacker_faults() const { return faults_; }
  std::uint32_t attacker_pasid() const { return pasid_; }
  bool attacker_stopped() const { return stopped_; }
  std::uint64_t completions() const;
  // kWrongData naming the first difference.
  Status compare_neighbours(const IsolationScene& other, const char* attempt) const;

 private:
  // A completion as the neighbour's program saw it, and as its entry lies in the completion ring.
  struct Outcome {
    std::uint64_t index;
    bool good;
  };
  struct Completion {
    std::uint32_t tag;
    std::uint16_t status;
  };
  struct Neighbour {
    std::unique_ptr<QueueSession> session;
    std::unique_ptr<driver::Queue> queue;
    std::vector<std::unique_ptr<driver::Queue>> others;
    driver::DeviceAddress memory;
    platform::DmaMemory* host = nullptr;
    platform::BusAddress ring, completions;  // of its queue
    std::vector<driver::QueueTicket> tickets;
    std::vector<Outcome> outcomes;
    std::vector<Completion> entries;  // by tag: they may overtake each other
    std::vector<std::byte> bytes;
    std::size_t faults = 0;
  };
  IsolationScene(Context& context, driver::Device& device) : context_(context), device_(device) {}
  Status enter(bool attacker);
  Status add_neighbour(std::uint64_t seed);
  Status work(Neighbour& neighbour, std::uint64_t from, std::uint64_t to);
  Status finish(Neighbour& neighbour);
  Status read_completions(Neighbour& neighbour);
  Status judge_attacker();
  Status leave();

  Context& context_;
  driver::Device& device_;
  std::vector<Neighbour> neighbours_;
  std::unique_ptr<QueueSession> attacker_;
  std::unique_ptr<driver::Queue> attacker_queue_;
  std::unique_ptr<driver::Queue> bystander_;  // the attacker's other queue
  driver::DeviceAddress own_memory_;
  std::vector<driver::QueueFault> faults_;
  std::uint32_t pasid_ = 0;
  bool stopped_ = false;
};

}  // namespace npu::workloads
