// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/call.hpp"

using namespace npu;
using namespace npu::dsmi;

namespace {

constexpr Picoseconds kBetweenLooks = 1_ms;

bool is_device(const Session& session, int device) {
  return device >= 0 && static_cast<std::size_t>(device) < session.count();
}

}  // namespace

extern "C" {

int dsmi_subscribe_fault_event(int device_id, struct dsmi_event_filter filter,
                               fault_event_callback handler) {
  if (handler == nullptr) return DSMI_ERROR_PARAMETER;
  return in_session([&](Session& session) -> int {
    if (!is_device(session, device_id)) return DSMI_ERROR_INVALID_DEVICE;
    return give(session.subscribe(static_cast<std::size_t>(device_id), filter, handler));
  });
}

int dsmi_read_fault_event(int device_id, int timeout, struct dsmi_event_filter filter,
                          struct dsmi_event* event) {
  if (event == nullptr || timeout < 0) return DSMI_ERROR_PARAMETER;
  return in_session([&](Session& session) -> int {
    if (!is_device(session, device_id)) return DSMI_ERROR_INVALID_DEVICE;
    const auto device = static_cast<std::size_t>(device_id);
    auto& clock = session.clock();
    const auto deadline = clock.now() + 1_ms * timeout;
    for (;;) {
      Result<std::optional<dms_fault_event>> next;
      {
        const SessionLock lock(session);
        auto& card = session.card(device);
        next = card.events.next(card.management, device, filter);
      }
      if (!next) return code_of(next.error());
      if (*next) {
        event->type = DMS_FAULT_EVENT;
        event->event_t.dms_event = **next;
        return DSMI_OK;
      }
      if (clock.now() >= deadline) return DSMI_ERROR_TIMEOUT;
      const auto later = clock.now() + kBetweenLooks;
      clock.sleep_until(later < deadline ? later : deadline);
    }
  });
}

}  // extern "C"
