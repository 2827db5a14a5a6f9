// SPDX-License-Identifier: Apache-2.0
// Many commands at once, and the ways to wait for one.
#include <fmt/format.h>

#include "apps/demo/pattern.hpp"
#include "apps/demo/steps.hpp"
#include "npu/abi/dma.hpp"

namespace npu::demo {
namespace {

using driver::DmaCommand;
using driver::WaitPolicy;

constexpr unsigned kPairs = abi::kRingEntries;  // two commands each: twice what the ring holds
constexpr Bytes kSlot = 8;

// Pair i sends the value of slot i to the one place in device memory and fetches it from there into
// the answers' slot i. An answer that is not its own question was fetched out of order.
Result<driver::Ticket> submit_pairs(Session& session, driver::EventId event,
                                    platform::BusAddress questions, platform::BusAddress answers,
                                    driver::DeviceAddress place) {
  driver::SubmitOptions options;
  options.event = event;
  options.interrupt = false;
  Result<driver::Ticket> last = fail(ErrorCode::kInvalidArgument, "no pairs");
  for (unsigned i = 0; i < kPairs; ++i) {
    const Bytes at = i * kSlot;
    last = session.device().submit(
        session.stream(), DmaCommand::host_to_device(questions + at, place, kSlot), options);
    if (!last) return last;
    last = session.device().submit(session.stream(),
                                   DmaCommand::device_to_host(place, answers + at, kSlot), options);
    if (!last) return last;
  }
  return last;
}

constexpr unsigned kWaits = 16;
constexpr Bytes kWaitBytes = 256_KiB;

Result<std::string> wait_with(Session& session, WaitPolicy policy) {
  auto& device = session.device();
  const auto memory = device.allocate(kWaitBytes);
  if (!memory) return forward_error(memory);
  const auto host = device.allocate_host(kWaitBytes);
  if (!host) return forward_error(host);
  const auto before = device.wait_statistics();
  std::uint64_t total = 0;
  for (unsigned i = 0; i < kWaits; ++i) {
    fill_pattern((*host)->cpu(), i);
    const auto there = session.timed_copy(
        DmaCommand::host_to_device((*host)->bus(), memory->address, kWaitBytes), policy);
    if (!there) return forward_error(there);
    fill_value((*host)->cpu(), 0);
    const auto back = session.timed_copy(
        DmaCommand::device_to_host(memory->address, (*host)->bus(), kWaitBytes), policy);
    if (!back) return forward_error(back);
    total += *there + *back;
    const auto what = fmt::format("copy {}", i);
    if (auto ok = check_pattern((*host)->cpu(), i, what); !ok) return forward_error(ok);
  }
  const auto after = device.wait_statistics();
  const auto slept = after.slept - before.slept, spun = after.spun - before.spun;
  const auto done = after.already_done - before.already_done;
  const auto missed = after.missed_interrupts - before.missed_interrupts;
  if (after.waits - before.waits != 2 * kWaits || slept + spun + done + missed != 2 * kWaits) {
    return fail(ErrorCode::kBadDevice, "the driver's counts of waits do not add up");
  }
  if (policy == WaitPolicy::kPolling && slept > 0) {
    return fail(ErrorCode::kBadDevice, fmt::format("{} polling waits slept", slept));
  }
  if (policy == WaitPolicy::kInterrupt && slept == 0) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("no wait was ended by an interrupt ({} done at once, {} found done "
                            "without one)",
                            done, missed));
  }
  if (auto ok = device.free(memory->address); !ok) return forward_error(ok);
  return fmt::format(
      "{} copies of {} B, {} ns each; {} spun, {} slept, {} done at the first look, "
      "{} found without an interrupt",
      2 * kWaits, kWaitBytes, total / (2 * kWaits), spun, slept, done, missed);
}

}  // namespace

Result<std::string> press_the_ring(Session& session) {
  auto& device = session.device();
  const Bytes bytes = kPairs * kSlot;
  const auto memory = device.allocate(kSlot);
  if (!memory) return forward_error(memory);
  const auto host = device.allocate_host(2 * bytes);
  if (!host) return forward_error(host);
  const auto questions = (*host)->cpu().subspan(0, bytes);
  const auto answers = (*host)->cpu().subspan(bytes, bytes);
  fill_pattern(questions, 1);
  fill_value(answers, 0);
  const auto event = device.create_event();
  if (!event) return forward_error(event);
  const auto before = session.event_count(*event);
  const auto statistics = device.dma_statistics();
  const auto begin = session.device_time();
  if (!begin) return forward_error(begin);
  const auto last =
      submit_pairs(session, *event, (*host)->bus(), (*host)->bus() + bytes, memory->address);
  if (!last) return forward_error(last);
  if (auto ok = device.wait(*last, WaitPolicy::kPolling, session.deadline()); !ok) {
    return forward_error(ok);
  }
  const auto end = session.device_time();
  if (!end) return forward_error(end);
  const auto counted = session.event_count(*event) - before;
  if (counted != 2 * kPairs) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("{} commands submitted, {} counted", 2 * kPairs, counted));
  }
  if (auto ok = check_pattern(answers, 1, "answers in order"); !ok) return forward_error(ok);
  const auto after = device.dma_statistics();
  if (auto ok = device.destroy_event(*event); !ok) return forward_error(ok);
  if (auto ok = device.free(memory->address); !ok) return forward_error(ok);
  return fmt::format(
      "{} commands through a ring of {}: all counted once, in order; ring full {} "
      "times, {} reads of the consumer index; {} ns each",
      counted, abi::kRingEntries, after.ring_full - statistics.ring_full,
      after.consumer_reads - statistics.consumer_reads, (*end - *begin) / counted);
}

Result<std::string> wait_polling(Session& session) {
  return wait_with(session, WaitPolicy::kPolling);
}
Result<std::string> wait_interrupt(Session& session) {
  return wait_with(session, WaitPolicy::kInterrupt);
}
Result<std::string> wait_adaptive(Session& session) {
  return wait_with(session, WaitPolicy::kAdaptive);
}

}  // namespace npu::demo
