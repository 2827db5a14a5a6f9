// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/expected_fault.hpp"

#include <fmt/format.h>

namespace npu::workloads {
namespace {

// The event is given back in any case: one that has seen a fault reports it for ever.
Status outcome_of(TriedCard& card, const driver::DmaCommand& command, driver::WaitPolicy policy) {
  const auto event = card.device->create_event();
  if (!event) return forward_error(event);
  driver::SubmitOptions options;
  options.event = *event;
  const auto ticket = card.device->submit(card.stream, command, options);
  Status outcome = ticket ? card.device->wait(*ticket, policy, deadline_of(card.context))
                          : forward_error(ticket);
  if (auto ok = card.device->destroy_event(*event); !ok && outcome) outcome = ok;
  return outcome;
}

Status check_record(TriedCard& card, const driver::FaultReport& report,
                    const ExpectedFault& expected) {
  std::string wanted;
  const auto vmid = card.device->address_space().vmid();
  if (report.code != expected.code) {
    wanted = to_string(expected.code);
  } else if (report.address != expected.address) {
    wanted = fmt::format("address {:#x}", expected.address);
  } else if (report.stream != card.stream.value || report.overflow) {
    wanted = fmt::format("one fault of stream {}", card.stream.value);
  } else if (expected.code == abi::FaultCode::kTranslation &&
             (report.write != expected.write || report.vmid != vmid)) {
    wanted = fmt::format("a {} of VMID {}", expected.write ? "write" : "read", vmid);
  }
  if (wanted.empty()) return {};
  return fail(ErrorCode::kBadDevice,
              fmt::format("the card says {}, not {}", describe(report), wanted));
}

}  // namespace

Status expect_fault(TriedCard& card, const ExpectedFault& expected) {
  for (const auto policy : {driver::WaitPolicy::kPolling, driver::WaitPolicy::kInterrupt}) {
    const auto outcome = outcome_of(card, expected.command, policy);
    if (outcome) return fail(ErrorCode::kBadDevice, "the command was not refused");
    if (outcome.error().code != ErrorCode::kDeviceFault) return outcome;
    const auto report = card.device->take_fault();
    if (!report) return forward_error(report);
    if (!*report) return fail(ErrorCode::kBadDevice, "the card has recorded no fault");
    if (auto ok = check_record(card, **report, expected); !ok) return ok;
    const auto more = card.device->take_fault();
    if (!more) return forward_error(more);
    if (*more) return fail(ErrorCode::kBadDevice, "a second fault: " + describe(**more));
    if (auto ok = card.round_trip(expected.address); !ok) return ok;
  }
  return {};
}

}  // namespace npu::workloads
