// SPDX-License-Identifier: Apache-2.0
// Time slices: clients share the AI Cores of a card in time. A program with several clients opens
// a TimeSliceScheduler, and each client's process joins it.
//
// Each client has a quota of every window of time. In its time slice it has all cores. Outside of
// it its process is evicted (ProcessContext::evict()), so that none of its work runs. A client is
// billed for the time in which its address space had cores (abi::kSpaceBusyWindow).
//
// The scheduler and each client's agent are tasks of the host that exchange messages. The agent
// sends REQUEST. It answers GRANT with TAKEN when the process is on the card, and DROP with RELEASE
// when it is off the card. An unanswered message is sent again, and after three timeouts the
// scheduler evicts the process itself. Time slices are numbered, so late messages have no effect.
//
// All members may be called from several tasks at once, except where noted.
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
  kFixedQuota,  // a client gets its quota and no more
  kElastic,     // a client also gets time that others do not use, up to its token
  kBestEffort,  // no time slices: all clients run at any time. A token of 0 still stops a client
};

// The launch window: how many launches of a client may be in flight. It grows by `grow` after a
// window of launches that all ended within `target`. A late launch shrinks it to `shrink_percent`.
// Concurrent tasks may exceed it by one launch each.
struct LaunchWindowOptions {
  unsigned start = 64;            // limited to floor .. most
  unsigned floor = 1;             // 1 .. most
  unsigned most = 2048;           // at most 65536
  unsigned grow = 1;              // 0 .. 65536
  unsigned shrink_percent = 50;   // 1 .. 100
  Picoseconds target = 1'000_us;  // above 0; only time in time slices counts
};

// Simulated times. Defaults are those of XPUShare, 1 us for its 1 ms (virtualisation.md Q1).
struct TimeSliceOptions {
  SharingPolicy policy = SharingPolicy::kFixedQuota;
  Picoseconds window = 2'000_us;   // 10 us .. 1 h
  Picoseconds sample = 50_us;      // how often a time slice is checked; at least 1 us
  unsigned carry_percent = 25;     // 0 .. 100 of a window: most debt or credit for the next one
  unsigned tail_percent = 70;      // 0 .. 100: billed part of the time from DROP to RELEASE
  Picoseconds timeout = 1'000_us;  // for an answer; 1 us .. 1 h
  LaunchWindowOptions launches;
};

enum class TimeSliceMessageKind : std::uint8_t { kRequest, kGrant, kTaken, kDrop, kRelease };
inline constexpr std::size_t kTimeSliceMessageKinds = 5;
struct TimeSliceMessage {
  TimeSliceMessageKind kind = TimeSliceMessageKind::kRequest;
  unsigned client = 0;      // TimeSliceClient::id()
  std::uint64_t slice = 0;  // number of the time slice, counted over all clients; 0 for kRequest
  Instant sent;             // for the first time
};

inline constexpr unsigned kWholeToken = 65535;
struct CoreQuota {
  unsigned percent = 100;        // 0 .. 100 of the window. Sums above 100 are scaled down
  unsigned token = kWholeToken;  // hard limit: token / kWholeToken of the window
};

struct TimeSliceClientStatistics {
  unsigned id = 0;
  std::string name;
  CoreQuota quota;
  unsigned effective_ppm = 0;  // millionths of the window, after scaling and the token
  Picoseconds used, limit;     // billed in the present window; the most that may be billed
  Picoseconds debt;            // billed above the limit in earlier windows, carried into this one
  Picoseconds busy;            // time with cores since join()
  // `reclaimed`: time slices that the scheduler ended because the agent did not answer.
  std::uint64_t time_slices = 0, launches = 0, reclaimed = 0;
  unsigned launch_window = 0, launches_in_flight = 0;
  // It has the time slice; has requested one; has requested one, but used up its limit.
  bool running = false, waiting = false, throttled = false;
};

struct TimeSliceSchedulerStatistics {
  std::uint64_t windows = 0;
  // Sent, by kind, with resent and lost ones.
  std::array<std::uint64_t, kTimeSliceMessageKinds> messages{};
  std::uint64_t resent = 0, lost = 0, stale = 0, reclaimed = 0;  // stale: of an old time slice
  std::uint64_t joined = 0, left = 0;
  unsigned running = 0, waiting = 0, clients = 0;  // kBestEffort: all are running
  Instant window_end;                              // of the present window
  Picoseconds update_latency;  // of the last change of a quota or card token, until its effect
};

class TimeSliceClient;

class NPU_API TimeSliceScheduler {
 public:
  // `device` outlives it.
  // kInvalidArgument: options out of range, or the device is shut down.
  // kUnsupported: the card does not count the time with cores of each space.
  // kOutOfResources: no task.
  // kDeviceLost, kIo: the card does not answer.
  static Result<std::unique_ptr<TimeSliceScheduler>> open(Device& device,
                                                          const TimeSliceOptions& options = {});
  // Clients that remain are scheduled until the last one is destroyed.
  ~TimeSliceScheduler();
  TimeSliceScheduler(const TimeSliceScheduler&) = delete;
  TimeSliceScheduler& operator=(const TimeSliceScheduler&) = delete;

  // Makes the process a client. It outlives the client.
  // kInvalidArgument: a quota out of range, a process of another device or one that is a client.
  // kUnsupported: a token below kWholeToken, and tokens are switched off (DeviceFeatures).
  // kOutOfResources: no task.
  // Also the errors of ProcessContext::evict().
  Result<std::unique_ptr<TimeSliceClient>> join(ProcessContext& process, std::string name,
                                                const CoreQuota& quota);
  // Changes a client's quota from the next window on.
  // kInvalidArgument: out of range.
  // kNotFound: no such client.
  // kUnsupported: changes or tokens are switched off (DeviceFeatures); kBestEffort with a token
  // that becomes 0 or was 0.
  Status set_quota(unsigned client, const CoreQuota& quota);
  // Limits all clients together, from the next window on, to token / kWholeToken of a window. 0:
  // nothing runs.
  // kInvalidArgument: out of range.
  // kUnsupported: less than kWholeToken with kBestEffort, or with tokens switched off.
  Status set_card_token(unsigned token);
  unsigned card_token() const;  // the value set last
  // All clients, by id. Reads the card. `launches`, `launch_window` and `launches_in_flight` are 0:
  // see TimeSliceClient::statistics().
  std::vector<TimeSliceClientStatistics> clients() const;
  TimeSliceSchedulerStatistics statistics() const;
  // Statistics snapshots as of the last time that the card was read. They take no lock and no
  // simulated time, for an observer outside the machine. No task may run meanwhile.
  std::vector<TimeSliceClientStatistics> snapshot_of_clients() const;
  TimeSliceSchedulerStatistics snapshot() const;
  // For tests: loses the messages for which `which` returns true.
  void lose(std::function<bool(const TimeSliceMessage&)> which);

  struct Impl;  // the driver's own

 private:
  explicit TimeSliceScheduler(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

class NPU_API TimeSliceClient {
 public:
  // The process leaves the scheduler and runs at any time again.
  ~TimeSliceClient();
  TimeSliceClient(const TimeSliceClient&) = delete;
  TimeSliceClient& operator=(const TimeSliceClient&) = delete;

  unsigned id() const;
  // Queue::submit() for a queue of the process. `launch`: a kernel is among the entries, and the
  // call waits for the time slice and for room in the launch window. A launch that waits for later
  // entries does not count, once its client had the time slice but no core for a whole target. The
  // agent notices entries submitted in other ways within a window.
  // kTimeout: no time slice or no room at `deadline`.
  // Also the errors of Queue::submit().
  Result<QueueTicket> submit(Queue& queue, const abi::QueueEntry* entries, std::size_t count,
                             bool launch, Instant deadline, const QueueEntryOptions& options = {});
  Result<QueueTicket> launch(Queue& queue, const abi::QueueEntry& entry, Instant deadline) {
    return submit(queue, &entry, 1, true, deadline);
  }
  // Stops the agent or resumes it, as SIGSTOP and SIGCONT of the process do. A stopped agent
  // answers no message.
  void stop(bool stopped);
  // Reads the card. Does not wait for time slices or room.
  TimeSliceClientStatistics statistics() const;
  // As TimeSliceScheduler::snapshot_of_clients(), with all fields.
  TimeSliceClientStatistics snapshot() const;

  struct Impl;  // the driver's own
  explicit TimeSliceClient(std::shared_ptr<Impl> impl);

 private:
  std::shared_ptr<Impl> impl_;
};

// TimeSliceClient::submit() for a process that is a client, else Queue::submit().
NPU_API Result<QueueTicket> submit_in_time_slice(ProcessContext& process, Queue& queue,
                                                 const abi::QueueEntry* entries, std::size_t count,
                                                 Instant deadline,
                                                 const QueueEntryOptions& options = {});

}  // namespace npu::driver
