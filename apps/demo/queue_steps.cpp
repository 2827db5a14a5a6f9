// SPDX-License-Identifier: Apache-2.0
// A compute queue of a process of its own.
#include <fmt/format.h>

#include <cstring>

#include "apps/demo/pattern.hpp"
#include "apps/demo/steps.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/queue_entries.hpp"

namespace npu::demo {
namespace {

namespace entries = driver::entries;

constexpr Bytes kBytes = 64_KiB;
constexpr std::uint32_t kFill = 0x5EED1234;

Status submit_and_wait(Session& session, driver::Queue& queue, const abi::QueueEntry& entry,
                       driver::WaitPolicy policy) {
  const auto ticket = queue.submit(entry, session.deadline());
  if (!ticket) return forward_error(ticket);
  return queue.wait(*ticket, policy, session.deadline());
}

Status check_fill(ConstByteSpan bytes) {
  for (Bytes at = 0; at < bytes.size; at += sizeof kFill) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data + at, sizeof word);
    if (word != kFill) {
      return fail(ErrorCode::kBadDevice,
                  fmt::format("fill: {:#x} at {:#x} in place of {:#x}", word, at, kFill));
    }
  }
  return {};
}

struct Work {
  driver::DeviceAddress memory;
  platform::DmaMemory* host;
};

// Nop; fill and fetch; send, copy on the card and fetch; two timestamps.
Result<std::string> work(Session& session, driver::Queue& queue, const Work& on) {
  using driver::WaitPolicy;
  const auto bus = on.host->bus();
  const auto bytes = on.host->cpu().subspan(0, kBytes);
  const auto there = on.memory, elsewhere = on.memory + 1_MiB, times = on.memory + 512_KiB;
  const auto run = [&](const abi::QueueEntry& entry, WaitPolicy policy = WaitPolicy::kPolling) {
    return submit_and_wait(session, queue, entry, policy);
  };
  fill_value(bytes, 0);
  const abi::QueueEntry first[] = {entries::nop(), entries::timestamp(times),
                                   entries::fill(there, kBytes, kFill),
                                   entries::copy_to_host(there, bus, kBytes)};
  for (const auto& entry : first) {
    if (auto ok = run(entry); !ok) return forward_error(ok);
  }
  if (auto ok = check_fill(bytes); !ok) return forward_error(ok);
  fill_pattern(bytes, 3);
  if (auto ok = run(entries::copy_to_device(bus, there, kBytes)); !ok) return forward_error(ok);
  fill_value(bytes, 0);
  const abi::QueueEntry second[] = {entries::copy_on_device(there, elsewhere, kBytes),
                                    entries::copy_to_host(elsewhere, bus, kBytes),
                                    entries::timestamp(times + 8),
                                    entries::copy_to_host(times, bus + kBytes, 16)};
  for (const auto& entry : second) {
    if (auto ok = run(entry, WaitPolicy::kInterrupt); !ok) return forward_error(ok);
  }
  if (auto ok = check_pattern(bytes, 3, "copies"); !ok) return forward_error(ok);
  const auto begin = on.host->load<std::uint64_t>(kBytes);
  const auto end = on.host->load<std::uint64_t>(kBytes + 8);
  if (begin == 0 || end <= begin) {
    return fail(ErrorCode::kBadDevice, fmt::format("timestamps {} and {} ns", begin, end));
  }
  const auto counters = queue.counters();
  return fmt::format("{} entries, {} doorbells, {} completions; {} ns between two timestamps",
                     counters.entries, counters.doorbells, counters.completions, end - begin);
}

}  // namespace

Result<std::string> use_queues(Session& session) {
  auto process = driver::ProcessContext::open(session.device());
  if (!process) return forward_error(process);
  std::string text;
  {
    const auto memory = (*process)->space().allocate(2_MiB);
    if (!memory) return forward_error(memory);
    const auto host = (*process)->allocate_host(kBytes + 4_KiB);
    if (!host) return forward_error(host);
    auto queue = (*process)->create_queue();
    if (!queue) return forward_error(queue);
    auto figures = work(session, **queue, {memory->address, host->get()});
    if (!figures) return figures;
    text = *figures;
    const auto end = (*process)->destroy(**queue, session.deadline());
    if (!end) return forward_error(end);
    if (*end != driver::QueueEnd::kDrained) {
      return fail(ErrorCode::kBadDevice, "the queue had to be reset to end");
    }
  }
  if (auto ok = (*process)->close(); !ok) return forward_error(ok);
  return text;
}

}  // namespace npu::demo
