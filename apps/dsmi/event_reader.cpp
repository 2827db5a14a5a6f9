// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/event_reader.hpp"

#include <fmt/format.h>

#include "apps/dsmi/fault_codes.hpp"
#include "apps/dsmi/text.hpp"

namespace npu::dsmi {
namespace {

constexpr unsigned char kEnded = 0, kRaised = 1, kMoment = 2;

bool is_memory(abi::EventKind kind) {
  return kind == abi::EventKind::kMemorySingle || kind == abi::EventKind::kMemoryDouble;
}

// Its alarm is up until a record says that it has ended.
bool is_alarm(abi::EventKind kind) {
  return is_memory(kind) || kind == abi::EventKind::kTemperature;
}

}  // namespace

bool passes(const dms_fault_event& event, const dsmi_event_filter& filter) {
  const auto wants = [&](unsigned long flag) { return (filter.filter_flag & flag) != 0; };
  if (wants(DSMI_EVENT_FILTER_FLAG_EVENT_ID) && event.event_id != filter.event_id) return false;
  if (wants(DSMI_EVENT_FILTER_FLAG_SERVERITY) && event.severity < filter.severity) return false;
  return !wants(DSMI_EVENT_FILTER_FLAG_NODE_TYPE) || event.node_type == filter.node_type;
}

dms_fault_event to_dms(const abi::LoggedEvent& event, std::size_t device) {
  dms_fault_event told{};
  told.event_id = code_of_event(event);
  told.deviceid = static_cast<unsigned short>(device);
  told.node_type = is_memory(event.kind) ? DSMI_NODE_TYPE_HBM : DSMI_NODE_TYPE_SOC;
  told.severity = static_cast<unsigned char>(event.severity);
  told.assertion = event.ended != 0 ? kEnded : is_alarm(event.kind) ? kRaised : kMoment;
  told.event_serial_num = static_cast<int>(event.number);
  told.alarm_raised_time = event.time_ns;
  put_text(told.event_name, text_of_code(told.event_id));
  put_text(told.additional_info, fmt::format("{:#x}", event.address));
  return told;
}

Result<std::optional<dms_fault_event>> EventReader::next(driver::Management& card,
                                                         std::size_t device,
                                                         const dsmi_event_filter& filter) {
  const auto fresh = card.events_since(seen_);
  if (!fresh) return forward_error(fresh);
  waiting_.insert(waiting_.end(), fresh->begin(), fresh->end());
  if (!fresh->empty()) seen_ = fresh->back().number;
  while (!waiting_.empty()) {
    auto told = to_dms(waiting_.front(), device);
    waiting_.pop_front();
    if (!passes(told, filter)) continue;
    told.notify_serial_num = ++given_;
    return told;
  }
  return std::nullopt;
}

}  // namespace npu::dsmi
