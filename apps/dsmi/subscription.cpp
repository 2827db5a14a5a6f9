// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/subscription.hpp"

#include "apps/dsmi/call.hpp"

namespace npu::dsmi {
namespace {

constexpr Picoseconds kBetweenLooks = 1_ms;

}  // namespace

Result<std::unique_ptr<Subscription>> Subscription::begin(Session& session, platform::Tasks& tasks,
                                                          std::size_t device,
                                                          const dsmi_event_filter& filter,
                                                          fault_event_callback handler) {
  std::unique_ptr<Subscription> made(new Subscription(session, device, filter, handler));
  {
    const SessionLock lock(session);
    const auto count = session.card(device).management.event_count();
    if (!count) return forward_error(count);
    made->reader_.begin(*count);
  }
  auto task = tasks.spawn("dsmi events", [watcher = made.get()] { watcher->watch(); });
  if (!task) return forward_error(task);
  made->task_ = std::move(*task);
  return made;
}

Subscription::~Subscription() {
  ended_.store(true);
  if (task_) task_->join();
}

// It begins with a sleep, whatever: who has made it goes on at the same time, and in simulated time
// the task's first call comes where npusim puts it.
void Subscription::watch() {
  do {
    session_.clock().sleep_until(session_.clock().now() + kBetweenLooks);
    look();
  } while (!ended_.load());
}

// A card that does not answer may come back.
void Subscription::look() {
  while (!ended_.load()) {
    Result<std::optional<dms_fault_event>> next;
    {
      const SessionLock lock(session_);
      next = reader_.next(session_.card(device_).management, device_, filter_);
    }
    if (!next || !*next) return;
    dsmi_event event{};
    event.type = DMS_FAULT_EVENT;
    event.event_t.dms_event = **next;
    handler_(&event);
  }
}

}  // namespace npu::dsmi
