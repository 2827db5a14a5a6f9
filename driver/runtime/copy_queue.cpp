// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/copy_queue.hpp"

#include <algorithm>

namespace npu::driver {
namespace {

constexpr Bytes kStaging = 4ULL << 20;
// For one copy of at most kStaging, a fill, the end of the queue.
constexpr Picoseconds kTimeout = 10_s;

}  // namespace

Instant CopyQueue::deadline() {
  return platform_.clock().now() + kTimeout;
}

Status CopyQueue::open() {
  auto memory = process_.allocate_host(kStaging);
  if (!memory) return forward_error(memory);
  staging_ = std::move(*memory);
  return open_queue();
}

Status CopyQueue::open_queue() {
  if (queue_ != nullptr) return {};
  QueueOptions options;
  options.interrupt = false;
  options.in_order = true;
  auto queue = process_.create_queue(options);
  if (!queue) return forward_error(queue);
  queue_ = std::move(*queue);
  return {};
}

Status CopyQueue::close() {
  Status ended;
  if (queue_ != nullptr) {
    const auto end = process_.destroy(*queue_, deadline());
    if (!end) ended = forward_error(end);
  }
  queue_.reset();
  staging_.reset();
  return ended;
}

Status CopyQueue::run(const abi::QueueEntry* work, std::size_t count) {
  if (auto ok = open_queue(); !ok) return ok;  // the last one may not have been replaced
  const auto ticket = queue_->submit(work, count, deadline());
  const Status done = ticket ? queue_->wait(*ticket, WaitPolicy::kPolling, deadline())
                             : Status(forward_error(ticket));
  if (done || device_.lost()) return done;
  static_cast<void>(process_.take_faults());
  static_cast<void>(process_.destroy(*queue_, platform_.clock().now()));
  queue_.reset();
  static_cast<void>(open_queue());  // or the next copy tries again
  return done;
}

Status CopyQueue::copy(DeviceAddress device_side, ByteSpan host_side, bool to_device) {
  for (Bytes done = 0; done < host_side.size;) {
    const Bytes piece = std::min(kStaging, host_side.size - done);
    const ByteSpan staged{staging_->cpu().data, piece}, own{host_side.data + done, piece};
    if (to_device) platform_.copy(staged, own);
    const auto entry = to_device
                           ? entries::copy_to_device(staging_->bus(), device_side + done, piece)
                           : entries::copy_to_host(device_side + done, staging_->bus(), piece);
    if (auto ok = run(&entry, 1); !ok) return ok;
    if (!to_device) platform_.copy(own, staged);
    done += piece;
  }
  return {};
}

}  // namespace npu::driver
