// SPDX-License-Identifier: Apache-2.0
// A client: its agent, a task that answers the scheduler, and what its own tasks do with queues.
#pragma once

#include <atomic>
#include <deque>
#include <vector>

#include "driver/queue/queue_channel.hpp"
#include "driver/queue/time_slice_hook.hpp"
#include "driver/time_slices/arbiter.hpp"
#include "driver/time_slices/launch_window.hpp"

namespace npu::driver {

struct TimeSliceClient::Impl final : TimeSliceInbox, TimeSliceHook {
  Impl(std::shared_ptr<TimeSliceScheduler::Impl> of, ProcessContext& process);
  ~Impl() override;
  Status start(std::string name, const CoreQuota& quota);

  Result<QueueTicket> submit(Queue& queue, const abi::QueueEntry* entries, std::size_t count,
                             bool launch, Instant deadline,
                             const QueueEntryOptions& options) override;
  void forget(const QueueChannel& channel) override;
  Status drain(QueueChannel& channel, Instant deadline) override;
  void stop(bool stopped);
  void post(const TimeSliceMessage& message) override;
  bool has_slice() const;
  // Waits for nobody.
  TimeSliceClientStatistics statistics() const;

  const std::shared_ptr<TimeSliceScheduler::Impl> scheduler;
  const std::shared_ptr<TimeSliceSeat> seat;
  unsigned id = 0;
  bool joined = false;

 private:
  struct Launch {
    QueueChannel* channel = nullptr;
    QueueTicket ticket;
    Instant begin;  // by turn_time()
    // At the last time-out: the time slice, and how long the client had had cores.
    std::uint64_t seen_in = 0, busy_seen = 0;
    unsigned looks = 0;
  };
  // Of a launch that goes on for ever, so many targets long: then the window lets others pass.
  static constexpr unsigned kMostLooks = 1000;

  struct Last {
    QueueChannel* channel = nullptr;
    QueueTicket ticket;
  };

  void run();
  void answer(const TimeSliceMessage& message);
  // Under the scheduler's mutex.
  void request();
  void request_again();
  Instant next_look() const;
  Instant now() const { return scheduler->now(); }
  // A clock that stands still while others have the time slice: what a launch waits for them does
  // not make it late. Only with a time slice.
  Instant slice_time() const { return now() - Picoseconds(without_slice_.load()); }

  Status await_slice(Instant deadline);
  // Waits for the oldest launch for a target. False: there is no room yet, or the time slice is
  // over.
  bool make_room(Instant deadline);
  // Under launches_lock_.
  void drop_done();
  void drop_oldest();
  void note(const Launch& launch);
  bool is_late(const Launch& launch) const;
  bool waits_for_later(Launch& launch);
  bool has_work();
  std::uint64_t entries_of_process();
  // Under last_lock_; the end: it has none.
  std::vector<Last>::iterator last_of(const QueueChannel& channel);

  const std::unique_ptr<platform::Condition> arrived_, slice_begun_;
  std::unique_ptr<platform::Task> task_;
  // Under the scheduler's mutex.
  std::deque<TimeSliceMessage> inbox_;
  bool stopped_ = false, ending_ = false, waiting_ = false;
  Instant asked_, asked_last_;
  unsigned kept_ = 0;  // tasks that wait for the time slice
  std::uint64_t entries_seen_ = 0;
  Instant left_;                                // the end of the last time slice
  std::atomic<std::int64_t> without_slice_{0};  // picoseconds
  std::atomic<std::uint64_t> slice_{
      0};  // as granted; of a time slice that is over it means nothing

  std::unique_ptr<platform::Mutex> launches_lock_;  // held while one waits for a target
  std::deque<Launch> launches_;                     // in flight, oldest first
  LaunchWindow window_;
  std::atomic<unsigned> window_size_, in_flight_{0};  // read by statistics
  std::atomic<std::uint64_t> launched_{0};
  std::unique_ptr<platform::Mutex> last_lock_;  // behind launches_lock_
  // The last of each queue that is not known as done, in the order in which queues came: an order
  // of addresses would be another one on every run.
  std::vector<Last> last_;
  std::atomic<std::uint64_t> entries_{0};  // that submit() has put into queues
};

}  // namespace npu::driver
