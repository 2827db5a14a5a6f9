// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/external_events.hpp"

#include "npu/driver/queue_entries.hpp"

namespace npu::exec::acl {
namespace {

Outcome submit_of(ProgramStream& stream, const ProgramEvent& event, const abi::QueueEntry& entry,
                  ModelTask::Type type) {
  if (event.device != stream.device) return fault(kStreamContext, "event of another device");
  return submit(stream, &entry, 1, event.flag, type);
}

}  // namespace

Outcome make_external(ProcessCard& card, ProgramEvent& event) {
  const auto signal = card.process().signals().create();
  if (!signal) return fault(kNoEvent, signal.error().message());
  event.flag = std::make_shared<ProgramNotify>(ProgramNotify{card.index(), *signal});
  return {};
}

void destroy_external(ProcessCard& card, const ProgramEvent& event) {
  static_cast<void>(card.process().signals().destroy(event.flag->signal));
}

Outcome set_flag(ProgramStream& stream, const ProgramEvent& event) {
  return submit_of(stream, event,
                   driver::entries::record_event(event.flag->signal, ProgramNotify::kSet),
                   ModelTask::Type::kRecord);
}

Outcome clear_flag(ProgramStream& stream, const ProgramEvent& event) {
  return submit_of(stream, event,
                   driver::entries::record_event(event.flag->signal, ProgramNotify::kUnset),
                   ModelTask::Type::kReset);
}

Outcome wait_for_flag(ProgramStream& stream, const ProgramEvent& event) {
  return submit_of(stream, event,
                   driver::entries::wait_event(event.flag->signal, ProgramNotify::kSet,
                                               abi::WaitCondition::kEqual),
                   ModelTask::Type::kWait);
}

}  // namespace npu::exec::acl
