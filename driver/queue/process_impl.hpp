// SPDX-License-Identifier: Apache-2.0
// A process and its queues as the manager sees them.
#pragma once

#include "driver/device/card_features.hpp"
#include "driver/queue/queue_builder.hpp"
#include "driver/queue/queue_changes.hpp"
#include "driver/queue/queue_endings.hpp"

namespace npu::driver {

struct ProcessContext::Impl final : QueueHost, QueueOwner {
  Impl(Device& card, QueueManager& shared, const ProcessOptions& wanted);
  ~Impl() override;

  Status open(Device& device);
  // kBusy: something is in use.
  Status begin_close();
  Status close();
  // Between them the process is not closed.
  Status enter();
  void leave() { handles_.fetch_sub(1, std::memory_order_release); }
  Status usable() const;

  // The caller has entered, and leaves after an error.
  Result<std::unique_ptr<Queue>> create(const QueueOptions& wanted);

  // --- For the manager. Not under the mutex.
  void add_fault(const QueueFault& fault) override { faults.note(fault); }
  Status quiesce(Instant deadline) override;
  void resume() override;
  void give_up() override { endings.give_up(); }

  // --- For the queues. Not under the mutex.
  void look_for_faults() override;
  bool await_stopped(QueueId queue, Instant deadline) override;
  Status ask_card(QueueId queue) override;
  std::optional<std::uint64_t> ask_read_index(QueueId queue, Instant deadline) override;

  CardLink& link;
  MemoryManager& memory;
  const CardFeatures& features;
  QueueManager& manager;
  const ProcessOptions options;

  ProcessResources resources;
  ProcessCommands commands;
  ProcessFaults faults;
  ProcessQueues queues;
  QueueChanges changes;
  ProcessMapping mapping;
  QueueRemoval removal;
  QueueEndings endings;

 private:
  Status add_to_card(QueueRecord& record);

  QueueBuilder builder_;
  bool registered_ = false;  // for faults
  std::atomic<bool> closed_{false};
  std::atomic<std::size_t> handles_{0};  // of queues, alive; and enter()
};

struct Queue::Impl {
  ProcessContext::Impl& process;
  std::unique_ptr<QueueChannel> channel;
};

}  // namespace npu::driver
