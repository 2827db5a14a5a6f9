// SPDX-License-Identifier: Apache-2.0
// One card's AI Cores shared in time by clients: each has a share of a window, and has the cores
// for itself in its time slice. Who does not have the time slice is off the card
// (ProcessContext::evict()), so that nothing a client submits, by whatever way, runs outside of its
// time slice. What a time slice costs is what the card says that the client's address space has had
// cores (abi::kSpaceBusyWindow).
//
// A scheduler, a task of the host's, and an agent of each client, another one, talk by messages:
// GRANT, which the agent answers with TAKEN once the process is on the card; DROP, answered with
// RELEASE once it is off it. What is not answered in time is sent again, with its original time;
// after three time-outs the scheduler takes the time slice back by itself, and what comes late from
// that time slice is known by its number and does nothing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/process.hpp"

namespace npu::driver {

enum class SharingPolicy : std::uint8_t {
  kFixedShare,  // no more than the share, whoever else is there
  kElastic,     // what others do not use, too, up to the token
  kBestEffort,  // everybody at any time; only memory is limited, and a token of 0 holds
};

// How many launches of a client may be in flight: `grow` more after each window of them that was
// done within `target` each, `shrink_percent` of that after one that was not. Tasks that launch at
// the same moment may be one more each.
struct LaunchWindowOptions {
  unsigned start = 64;
  unsigned floor = 1;             // 1 .. most
  unsigned most = 2048;           // at most 65536
  unsigned grow = 1;              // at most 65536
  unsigned shrink_percent = 50;   // 1 .. 100
  Picoseconds target = 1'000_us;  // from the launch to its end, while the client has the time slice
};

// Times are simulated ones: a thousandth of what XPUShare has.
struct TimeSliceOptions {
  SharingPolicy policy = SharingPolicy::kFixedShare;
  Picoseconds window = 2'000_us;  // that shares are of; at least 10 us
  Picoseconds sample = 50_us;     // how often a time slice is looked at; at least 1 us
  unsigned carry_percent = 25;  // of the window: what a client is over or under goes on to the next
  unsigned tail_percent = 70;   // what is billed of the time between DROP and RELEASE
  Picoseconds timeout = 1'000_us;  // for an answer
  LaunchWindowOptions launches;
};

enum class TimeSliceMessageKind : std::uint8_t { kRequest, kGrant, kTaken, kDrop, kRelease };
inline constexpr std::size_t kTimeSliceMessageKinds = 5;
struct TimeSliceMessage {
  TimeSliceMessageKind kind = TimeSliceMessageKind::kRequest;
  unsigned client = 0;      // TimeSliceClient::id()
  std::uint64_t slice = 0;  // of GRANT and what follows; counted over all clients
  Instant sent;             // the first time
};

inline constexpr unsigned kWholeToken = 65535;
struct CoreQuota {
  unsigned percent = 100;        // 0 .. 100 of the window. Sums above 100 are scaled down
  unsigned token = kWholeToken;  // 0 .. kWholeToken: no more than token / kWholeToken of the window
};

struct TimeSliceClientStatistics {
  unsigned id = 0;
  std::string name;
  CoreQuota share;
  unsigned effective_ppm = 0;  // of the window, after scaling and by the token
  Picoseconds used, limit;     // of the present window, billed
  Picoseconds debt;            // what it has had too much and has not given back
  Picoseconds busy;            // that its address space has had cores since it has joined
  std::uint64_t time_slices = 0, launches = 0, reclaimed = 0;
  unsigned launch_window = 0, launches_in_flight = 0;
  bool running = false, waiting = false, throttled = false;
};

struct TimeSliceSchedulerStatistics {
  std::uint64_t windows = 0;
  std::array<std::uint64_t, kTimeSliceMessageKinds> messages{};  // sent, by kind
  std::uint64_t resent = 0, lost = 0, stale = 0, reclaimed = 0;
  std::uint64_t joined = 0, left = 0;
  unsigned running = 0, waiting = 0, clients = 0;
  Instant window_end;          // of the present window
  Picoseconds update_latency;  // of the last change of a share, from the call until it held
};

class TimeSliceClient;

class NPU_API TimeSliceScheduler {
 public:
  // `device` outlives it. kInvalidArgument: options out of range; kUnsupported: the card does not
  // tell how long spaces have had cores; kOutOfResources: no task.
  static Result<std::unique_ptr<TimeSliceScheduler>> open(Device& device,
                                                          const TimeSliceOptions& options = {});
  // Clients are gone.
  ~TimeSliceScheduler();
  TimeSliceScheduler(const TimeSliceScheduler&) = delete;
  TimeSliceScheduler& operator=(const TimeSliceScheduler&) = delete;

  // From now on the process runs in its time slices. It outlives the client. kInvalidArgument: out
  // of range, another device's, or a share of it already; kUnsupported: a token, and tokens are
  // switched off; and what ProcessContext::evict() reports.
  Result<std::unique_ptr<TimeSliceClient>> join(ProcessContext& process, std::string name,
                                                const CoreQuota& share);
  // From the next window on. kNotFound, kInvalidArgument; kUnsupported: to or from a token of 0
  // with best effort; changes, or tokens, are switched off (DeviceFeatures).
  Status set_share(unsigned client, const CoreQuota& share);
  // Of the card, 0 .. kWholeToken: from the next window on all clients together have no more than
  // token / kWholeToken of a window, each of its share and own token at most; with 0 nothing runs.
  // kInvalidArgument; kUnsupported: less than the whole with best effort, where nobody takes time
  // slices, or with DeviceFeatures::tokens off.
  Status set_card_token(unsigned token);
  unsigned card_token() const;  // as it was set last
  // By their ids.
  std::vector<TimeSliceClientStatistics> clients() const;
  TimeSliceSchedulerStatistics statistics() const;
  // The same as the books have them, without a look at the card and without waiting for anybody:
  // for who looks from outside of the machine, at no time of its own.
  std::vector<TimeSliceClientStatistics> snapshot_of_clients() const;
  TimeSliceSchedulerStatistics snapshot() const;
  // Messages for which it says so are lost, for tests of that.
  void lose(std::function<bool(const TimeSliceMessage&)> which);

  struct Impl;  // the driver's own

 private:
  explicit TimeSliceScheduler(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

class NPU_API TimeSliceClient {
 public:
  // Leaves: the process runs when it wants again.
  ~TimeSliceClient();
  TimeSliceClient(const TimeSliceClient&) = delete;
  TimeSliceClient& operator=(const TimeSliceClient&) = delete;

  unsigned id() const;
  // As Queue::submit(), of a queue of the process. `launch`: a kernel is among it; then the call
  // waits for the time slice, and for room in the window of launches; one in flight that waits for
  // what comes behind it, while the client has no core, does not count. kTimeout: no time slice or
  // no room until `deadline`. What is submitted by other ways runs in a time slice, too, for which
  // the agent asks a window later.
  Result<QueueTicket> submit(Queue& queue, const abi::QueueEntry* entries, std::size_t count,
                             bool launch, Instant deadline, const QueueEntryOptions& options = {});
  Result<QueueTicket> launch(Queue& queue, const abi::QueueEntry& entry, Instant deadline) {
    return submit(queue, &entry, 1, true, deadline);
  }
  // The process does nothing by itself until it is resumed (SIGSTOP): its agent does not answer.
  void stop(bool stopped);
  // At once, whoever waits for a time slice or for room; a look at the card is made.
  TimeSliceClientStatistics statistics() const;
  // As TimeSliceScheduler::snapshot_of_clients(), with what the client alone knows.
  TimeSliceClientStatistics snapshot() const;

  struct Impl;  // the driver's own
  explicit TimeSliceClient(std::shared_ptr<Impl> impl);

 private:
  std::shared_ptr<Impl> impl_;
};

// TimeSliceClient::submit() if the process runs in time slices, and Queue::submit() if not.
NPU_API Result<QueueTicket> submit_in_time_slice(ProcessContext& process, Queue& queue,
                                                 const abi::QueueEntry* entries, std::size_t count,
                                                 Instant deadline,
                                                 const QueueEntryOptions& options = {});

}  // namespace npu::driver
