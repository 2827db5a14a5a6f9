// SPDX-License-Identifier: Apache-2.0
// TimeSliceScheduler and TimeSliceClient: what a user may call.
#include "npu/driver/time_slices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/device/device_parts.hpp"
#include "driver/queue/process_impl.hpp"
#include "driver/support/choice.hpp"
#include "driver/support/impl_of.hpp"
#include "driver/time_slices/agent.hpp"
#include "npu/abi/telemetry.hpp"

namespace npu::driver {
namespace {

Status invalid(std::string what) {
  return fail(ErrorCode::kInvalidArgument, std::move(what));
}

Status check(const LaunchWindowOptions& launches) {
  constexpr unsigned kMost = 65536;
  if (launches.floor == 0 || launches.floor > launches.most || launches.most > kMost) {
    return invalid(fmt::format("windows of {} to {} launches; 1 .. {} are possible", launches.floor,
                               launches.most, kMost));
  }
  if (launches.grow > kMost || launches.shrink_percent == 0 || launches.shrink_percent > 100) {
    return invalid(fmt::format("windows that grow by {} and shrink to {} %", launches.grow,
                               launches.shrink_percent));
  }
  if (launches.target <= Picoseconds{}) return invalid("launches in no time");
  return {};
}

Status check(const TimeSliceOptions& options) {
  if (auto ok = check_choice("policy", options.policy, SharingPolicy::kBestEffort); !ok) return ok;
  constexpr Picoseconds kLongest = 3'600'000'000_us;
  if (options.window < 10_us || options.window > kLongest) {
    return invalid("a window of less than 10 us, or of more than an hour");
  }
  if (options.sample < 1_us || options.timeout < 1_us || options.timeout > kLongest) {
    return invalid("samples or time-outs of less than 1 us, or of more than an hour");
  }
  if (options.carry_percent > 100 || options.tail_percent > 100) {
    return invalid(fmt::format("{} % carried on, {} % of a tail billed", options.carry_percent,
                               options.tail_percent));
  }
  return check(options.launches);
}

Status check(const CoreQuota& quota) {
  if (quota.percent > 100) return invalid(fmt::format("a quota of {} %", quota.percent));
  if (quota.token > kWholeToken) {
    return invalid(fmt::format("a token of {}, at most {}", quota.token, kWholeToken));
  }
  return {};
}

Status tells_of_spaces(CardLink& link) {
  if (auto ok = link.usable(); !ok) return ok;
  const auto known = link.read<abi::TelemetryCapability>();
  if (!known) return forward_error(known);
  if (known->get<abi::TelemetryCapability::Spaces>() != 0) return {};
  return fail(ErrorCode::kUnsupported, "the card does not tell how long a space has had cores");
}

}  // namespace

TimeSliceScheduler::TimeSliceScheduler(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
TimeSliceScheduler::~TimeSliceScheduler() = default;

Result<std::unique_ptr<TimeSliceScheduler>> TimeSliceScheduler::open(
    Device& device, const TimeSliceOptions& options) {
  if (auto ok = check(options); !ok) return forward_error(ok);
  if (auto ok = tells_of_spaces(DeviceParts::link(device)); !ok) return forward_error(ok);
  auto impl = std::make_shared<Impl>(device, options);
  if (auto ok = impl->start(); !ok) return forward_error(ok);
  return std::unique_ptr<TimeSliceScheduler>(new TimeSliceScheduler(std::move(impl)));
}

Result<std::unique_ptr<TimeSliceClient>> TimeSliceScheduler::join(ProcessContext& process,
                                                                  std::string name,
                                                                  const CoreQuota& quota) {
  if (auto ok = check(quota); !ok) return forward_error(ok);
  if (&impl_of(process).link != &impl_->link) {
    return fail(ErrorCode::kInvalidArgument, "the process is another card's");
  }
  if (quota.token != kWholeToken) {
    auto known = impl_->features.has(&DeviceFeatures::tokens, "tokens are");
    if (!known) return forward_error(known);
  }
  if (impl_of(process).queues.time_slices() != nullptr) {
    return fail(ErrorCode::kInvalidArgument, "the process runs in turns already");
  }
  auto client = std::make_shared<TimeSliceClient::Impl>(impl_, process);
  if (auto ok = client->start(std::move(name), quota); !ok) return forward_error(ok);
  return std::make_unique<TimeSliceClient>(std::move(client));
}

Status TimeSliceScheduler::set_quota(unsigned client, const CoreQuota& quota) {
  if (auto ok = check(quota); !ok) return ok;
  const auto& features = impl_->features;
  auto known = features.has(&DeviceFeatures::share_updates, "changes of quotas are");
  if (known && quota.token != kWholeToken)
    known = features.has(&DeviceFeatures::tokens, "tokens are");
  return known ? impl_->set_quota(client, quota) : known;
}

Status TimeSliceScheduler::set_card_token(unsigned token) {
  if (token > kWholeToken) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a token of {}, at most {}", token, kWholeToken));
  }
  if (token != kWholeToken) {
    auto known = impl_->features.has(&DeviceFeatures::tokens, "tokens are");
    if (!known) return known;
  }
  return impl_->set_card_token(token);
}

unsigned TimeSliceScheduler::card_token() const {
  return impl_->card_token();
}

std::vector<TimeSliceClientStatistics> TimeSliceScheduler::clients() const {
  std::vector<TimeSliceClientStatistics> all;
  const MutexHolder holder(*impl_->lock);
  for (const auto& [id, member] : impl_->members) {
    impl_->look_at_card(id);
    all.push_back(impl_->statistics_of(id));
  }
  return all;
}

std::vector<TimeSliceClientStatistics> TimeSliceScheduler::snapshot_of_clients() const {
  std::vector<TimeSliceClientStatistics> all;
  for (const auto& [id, member] : impl_->members) all.push_back(impl_->statistics_of(id));
  return all;
}

TimeSliceSchedulerStatistics TimeSliceScheduler::snapshot() const {
  return impl_->statistics_now();
}

TimeSliceSchedulerStatistics TimeSliceScheduler::statistics() const {
  const MutexHolder holder(*impl_->lock);
  return impl_->statistics_now();
}

void TimeSliceScheduler::lose(std::function<bool(const TimeSliceMessage&)> which) {
  const MutexHolder holder(*impl_->lock);
  impl_->lost = std::move(which);
}

TimeSliceClient::TimeSliceClient(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
TimeSliceClient::~TimeSliceClient() = default;

unsigned TimeSliceClient::id() const {
  return impl_->id;
}

Result<QueueTicket> TimeSliceClient::submit(Queue& queue, const abi::QueueEntry* entries,
                                            std::size_t count, bool launch, Instant deadline,
                                            const QueueEntryOptions& options) {
  return impl_->submit(queue, entries, count, launch, deadline, options);
}

void TimeSliceClient::stop(bool stopped) {
  impl_->stop(stopped);
}

Result<QueueTicket> submit_in_time_slice(ProcessContext& process, Queue& queue,
                                         const abi::QueueEntry* entries, std::size_t count,
                                         Instant deadline, const QueueEntryOptions& options) {
  auto* const hook = impl_of(process).queues.time_slices();
  if (hook == nullptr) return queue.submit(entries, count, deadline, options);
  constexpr unsigned kLaunches = 1;  // opcodes by their upper half
  const bool launch = std::any_of(entries, entries + count, [](const abi::QueueEntry& entry) {
    return entry.opcode >> 4 == kLaunches;
  });
  return hook->submit(queue, entries, count, launch, deadline, options);
}

TimeSliceClientStatistics TimeSliceClient::statistics() const {
  const MutexHolder holder(*impl_->scheduler->lock);
  impl_->scheduler->look_at_card(impl_->id);
  return snapshot();
}

TimeSliceClientStatistics TimeSliceClient::snapshot() const {
  const auto own = impl_->statistics();
  auto now = impl_->scheduler->statistics_of(impl_->id);
  now.launches = own.launches;
  now.launch_window = own.launch_window;
  now.launches_in_flight = own.launches_in_flight;
  return now;
}

}  // namespace npu::driver
