// SPDX-License-Identifier: Apache-2.0
#include "apps/demo/faults.hpp"

#include <fmt/format.h>

namespace npu::demo {
namespace {

// The event is given back in any case: one that has seen a fault reports it for ever.
Status outcome_of(Session& session, const driver::DmaCommand& command, driver::WaitPolicy policy) {
  auto& device = session.device();
  const auto event = device.create_event();
  if (!event) return forward_error(event);
  driver::SubmitOptions options;
  options.event = *event;
  const auto ticket = device.submit(session.stream(), command, options);
  Status outcome =
      ticket ? device.wait(*ticket, policy, session.deadline()) : forward_error(ticket);
  if (auto ok = device.destroy_event(*event); !ok && outcome) outcome = ok;
  return outcome;
}

Status check_record(Session& session, const driver::FaultReport& report,
                    const ExpectedFault& expected) {
  const auto said = describe(report);
  if (report.code != expected.code) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("the card says {}, not {}", said, to_string(expected.code)));
  }
  if (report.address != expected.address) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("the card says {}, not address {:#x}", said, expected.address));
  }
  if (report.stream != session.stream().value || report.overflow) {
    return fail(ErrorCode::kBadDevice, fmt::format("the card says {}: another stream, or more than "
                                                   "one fault",
                                                   said));
  }
  const bool of_device = expected.code == abi::FaultCode::kTranslation;
  const auto vmid = session.device().address_space().vmid();
  if (of_device && (report.write != expected.write || report.vmid != vmid)) {
    return fail(ErrorCode::kBadDevice, fmt::format("the card says {}: not a {} of VMID {}", said,
                                                   expected.write ? "write" : "read", vmid));
  }
  return {};
}

}  // namespace

Status expect_fault(Session& session, const driver::DmaCommand& command,
                    const ExpectedFault& expected) {
  auto& device = session.device();
  for (const auto policy : {driver::WaitPolicy::kPolling, driver::WaitPolicy::kInterrupt}) {
    const auto outcome = outcome_of(session, command, policy);
    if (outcome) return fail(ErrorCode::kBadDevice, "the command was not refused");
    if (outcome.error().code != ErrorCode::kDeviceFault) return outcome;
    const auto report = device.take_fault();
    if (!report) return forward_error(report);
    if (!*report) return fail(ErrorCode::kBadDevice, "the card has recorded no fault");
    if (auto ok = check_record(session, **report, expected); !ok) return ok;
    const auto more = device.take_fault();
    if (!more) return forward_error(more);
    if (*more) return fail(ErrorCode::kBadDevice, "a second fault: " + describe(**more));
    if (auto ok = session.round_trip(expected.address); !ok) return ok;
  }
  return {};
}

}  // namespace npu::demo
