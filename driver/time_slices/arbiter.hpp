// SPDX-License-Identifier: Apache-2.0
// The scheduler's task: windows, time slices, and what they cost. Everything under one mutex, which
// is not held while a process comes to the card or leaves it.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "driver/device/card_features.hpp"
#include "driver/link/card_link.hpp"
#include "driver/time_slices/ledger.hpp"
#include "driver/time_slices/seat.hpp"

namespace npu::driver {

// Where a client's agent takes its messages.
class TimeSliceInbox {
 public:
  virtual ~TimeSliceInbox() = default;
  virtual void post(const TimeSliceMessage& message) = 0;  // under the mutex
};

struct TimeSliceScheduler::Impl {
  static constexpr Picoseconds kCardTimeout = 1_ms;

  struct Member {
    std::string name;
    std::shared_ptr<TimeSliceSeat> seat;
    TimeSliceInbox* inbox = nullptr;
    unsigned vmid = 0;
    std::uint64_t busy_seen = 0;  // ns, of the card's counter
    Picoseconds busy;
    bool idle = false;               // nothing to bill at the last look
    std::optional<CoreQuota> quota;  // from the next window on
    Instant changed;                 // when it was said so
    std::uint64_t time_slices = 0, reclaimed = 0;
    bool in_use = false;  // without the mutex
  };

  Impl(Device& card, const TimeSliceOptions& wanted);
  ~Impl();
  Status start();

  Result<unsigned> add(std::string name, std::shared_ptr<TimeSliceSeat> seat, TimeSliceInbox& inbox,
                       const CoreQuota& quota);
  // When nobody uses it any more.
  void remove(unsigned client);
  Status set_quota(unsigned client, const CoreQuota& quota);
  Status set_card_token(unsigned token);
  unsigned card_token() const;

  // --- Under the mutex.
  // To the client, or to the scheduler; unless it is lost.
  void send(const TimeSliceMessage& message, bool again = false);
  Instant now() const { return platform.clock().now(); }
  // Of what the card is to do for a client. However soon a message is to be answered: the card
  // gives way between two blocks only.
  Instant card_deadline() const { return now() + std::max(options.timeout, kCardTimeout); }
  // By what the card says now.
  Picoseconds bill(unsigned client, unsigned percent);
  bool has_slice(unsigned client) const { return slice_ && slice_->client == client; }
  // Without what only its agent knows. By the books, which bill() brings up to date.
  TimeSliceClientStatistics statistics_of(unsigned client) const;
  TimeSliceSchedulerStatistics statistics_now() const;
  void look_at_card(unsigned client);

  CardLink& link;
  const CardFeatures& features;
  platform::Platform& platform;
  const TimeSliceOptions options;
  std::unique_ptr<platform::Mutex> lock;
  std::unique_ptr<platform::Condition>
      changed;  // for the task, and for the thread that removes a client
  std::map<unsigned, std::shared_ptr<Member>> members;
  TimeSliceLedger ledger;
  TimeSliceSchedulerStatistics statistics;
  std::function<bool(const TimeSliceMessage&)> lost;

 private:
  enum class Stage : std::uint8_t { kGranting, kRunning, kDropping };
  struct TimeSlice {
    unsigned client = 0;
    std::uint64_t number = 0;
    Stage stage = Stage::kGranting;
    Instant first_sent, last_sent;
    unsigned sent = 0;
    Instant next_look;
  };

  void run();
  void handle(const TimeSliceMessage& message);
  void advance();
  void roll();
  void look();
  void plan_look();
  void grant(unsigned client);
  void drop();
  void ask_again();
  void reclaim();
  void end_slice(unsigned percent);
  void apply_quota(Member& member, unsigned client);
  void apply_card_token();
  bool anybody_waits() const;
  bool only_looks() const;
  bool has_had_a_slice() const;
  Instant next_event() const;

  std::deque<TimeSliceMessage> inbox_;
  std::optional<TimeSlice> slice_;
  std::uint64_t slices_ = 0;
  unsigned ids_ = 0;
  Instant window_end_;
  Picoseconds window_busy_;  // of whoever had time slices in it
  unsigned card_token_ = kWholeToken;
  std::optional<Instant> card_token_set_;  // it holds from the next window on
  bool stopping_ = false;
  std::unique_ptr<platform::Task> task_;
};

}  // namespace npu::driver
