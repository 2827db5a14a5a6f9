// SPDX-License-Identifier: Apache-2.0
// Copies to the card, on it and back, of all sizes, aligned and not: every byte is compared, and
// those around it, and the driver's counts of its waits.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "npu/abi/layout.hpp"
#include "npu/abi/registers.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/tried_card.hpp"

namespace npu::workloads {
namespace programs::copy_check {
namespace {

using driver::DmaCommand;
using Waits = driver::WaitStatistics;

constexpr Bytes kGuard = 64;    // bytes before and behind the data that must stay as they are
constexpr Bytes kRoom = 4_MiB;  // for shifts and guards
constexpr std::byte kDeviceGuard{0xD6}, kHostGuard{0x4A};

struct Shape {
  Bytes size;
  Bytes host_shift, device_shift;  // of the addresses, from a multiple of 4 KiB
};

constexpr Shape kShapes[] = {
    {4, 0, 0},      {4, 3, 1},      {1, 7, 4095},       {63, 1, 0},
    {64, 0, 64},    {65, 4090, 5},  {512, 0, 0},        {1000, 13, 27},
    {4_KiB, 0, 0},  {4_KiB, 1, 2},  {4097, 0, 4095},    {64_KiB, 0, 0},
    {65533, 31, 2}, {1_MiB, 0, 0},  {1_MiB + 7, 9, 17}, {2_MiB, 0, 2_MiB - 4_KiB},
    {16_MiB, 0, 0}, {64_MiB, 0, 0},
};

struct Checked {
  std::uint64_t shapes = 0;
  Bytes bytes = 0;
  Waits waits;
};
constexpr Figure<Checked> kFigures[] = {
    {"shapes", "", from<&Checked::shapes>},
    {"checked_bytes", "B", from<&Checked::bytes>},
    {"waits", "", from<&Checked::waits, &Waits::waits>},
    {"spun", "", from<&Checked::waits, &Waits::spun>},
    {"slept", "", from<&Checked::waits, &Waits::slept>},
    {"done_at_first_look", "", from<&Checked::waits, &Waits::already_done>},
    {"found_without_interrupt", "", from<&Checked::waits, &Waits::missed_interrupts>}};

// What the driver counted from `before` on, as long as it adds up to `copies`.
Result<Waits> waits_since(const Waits& before, const Waits& after, std::uint64_t copies,
                          driver::WaitPolicy policy) {
  Waits waits;
  for (const auto count : {&Waits::waits, &Waits::spun, &Waits::slept, &Waits::already_done,
                           &Waits::missed_interrupts}) {
    waits.*count = after.*count - before.*count;
  }
  const auto ended = waits.spun + waits.slept + waits.already_done + waits.missed_interrupts;
  if (waits.waits != copies || ended != copies) {
    return fail(ErrorCode::kBadDevice, "the driver's counts of waits do not add up");
  }
  if (policy == driver::WaitPolicy::kPolling && waits.slept > 0) {
    return fail(ErrorCode::kBadDevice, fmt::format("{} polling waits slept", waits.slept));
  }
  if (policy == driver::WaitPolicy::kInterrupt && waits.slept == 0) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("no wait was ended by an interrupt ({} done at once, {} found done "
                            "without one)",
                            waits.already_done, waits.missed_interrupts));
  }
  return waits;
}

// One end of the copies in host memory and two on the card.
struct Copies {
  TriedCard& card;
  driver::WaitPolicy policy;
  platform::DmaMemory& host;
  driver::DeviceAddress here, there;
  platform::MmioRegion& registers;  // only looked at: the driver has its own

  // The card's own clock goes on meanwhile.
  Status copy(const DmaCommand& command) {
    const auto time = [this] { return platform::read_register<abi::DeviceTime>(registers).raw; };
    const auto before = time();
    if (auto ok = card.copy(command, policy); !ok) return ok;
    const auto after = time();
    if (after > before) return {};
    return fail(ErrorCode::kBadDevice, fmt::format("DEVICE_TIME was {} ns before a copy and {} "
                                                   "after it",
                                                   before, after));
  }

  // Both places on the card get a guard around the data; the data goes to the one, from there to
  // the other, and comes back with the guard, into host memory with a guard of its own.
  Status send_and_fetch(const Shape& shape) {
    const Bytes size = shape.size, shift = shape.host_shift, framed = size + 2 * kGuard;
    const auto bytes = host.cpu();
    const auto base = host.bus();
    const auto one = here + shape.device_shift, other = there + shape.device_shift;
    std::fill_n(bytes.data, framed, kDeviceGuard);
    for (const auto to : {one, other}) {
      if (auto ok = copy(DmaCommand::host_to_device(base, to, framed)); !ok) return ok;
    }
    fill_pattern(bytes.subspan(shift, size), size + shift);
    for (const auto& command : {DmaCommand::host_to_device(base + shift, one + kGuard, size),
                                DmaCommand::device_to_device(one + kGuard, other + kGuard, size)}) {
      if (auto ok = copy(command); !ok) return ok;
    }
    std::fill_n(bytes.data, shift + framed + 2 * kGuard, kHostGuard);
    auto ok = copy(DmaCommand::device_to_host(other, base + shift + kGuard, framed));
    return ok ? compare(shape) : ok;
  }

  Status compare(const Shape& shape) const {
    std::vector<std::byte> data(shape.size);
    fill_pattern({data.data(), data.size()}, shape.size + shape.host_shift);
    const std::vector<std::byte> device(kGuard, kDeviceGuard);
    const std::vector<std::byte> before(shape.host_shift + kGuard, kHostGuard);
    const std::vector<std::byte> behind(kGuard, kHostGuard);
    const std::pair<const char*, const std::vector<std::byte>*> zones[] = {
        {": host, before", &before},
        {": device, before", &device},
        {"", &data},
        {": device, behind", &device},
        {": host, behind", &behind}};
    Bytes at = 0;
    for (const auto& [name, expected] : zones) {
      auto same = check_equal({expected->data(), expected->size()},
                              host.cpu().subspan(at, expected->size()),
                              fmt::format("{} bytes, host +{}, device +{}{}", shape.size,
                                          shape.host_shift, shape.device_shift, name));
      if (!same) return same;
      at += expected->size();
    }
    return {};
  }
};

bool is_wanted(const Shape& shape, const ParameterSet& parameters) {
  return shape.size >= parameters.size("smallest") && shape.size <= parameters.size("largest");
}

Result<Checked> copy_all(Context& context, Copies copies) {
  Checked checked;
  constexpr std::uint64_t kCopies = 5;  // of a shape
  const auto before = copies.card.device->wait_statistics();
  const auto rounds = context.parameters.integer("rounds");
  for (std::uint64_t round = 0; round < rounds; ++round) {
    context.step("copies of all sizes", round, rounds);
    for (const auto& shape : kShapes) {
      if (!is_wanted(shape, context.parameters)) continue;
      if (auto ok = copies.send_and_fetch(shape); !ok) return forward_error(ok);
      ++checked.shapes;
      checked.bytes += shape.size;
    }
  }
  const auto waits = waits_since(before, copies.card.device->wait_statistics(),
                                 kCopies * checked.shapes, copies.policy);
  if (!waits) return forward_error(waits);
  checked.waits = *waits;
  return checked;
}

Status run(Context& context) {
  const Bytes room = context.parameters.size("largest") + kRoom;
  if (auto ok = require_host_memory("largest=" + size_name(room - kRoom), 4 * room); !ok) return ok;
  auto card = TriedCard::open(context);
  if (!card) return forward_error(card);
  auto& device = *card->device;
  const auto host = device.allocate_host(room);
  if (!host) return forward_error(host);
  const auto memory = device.allocate(2 * room);
  if (!memory) return forward_error(memory);
  const auto registers =
      context.platform.map_bar(device.info().bdf(), abi::kRegisterBar, 0, abi::kMsixTableOffset,
                               platform::Caching::kUncached);
  if (!registers) return forward_error(registers);
  const auto checked =
      copy_all(context, {*card, wait_policy(context.parameters.choice("policy")), **host,
                         memory->address, memory->address + room, **registers});
  if (!checked) return forward_error(checked);
  report_figures(context, "copy_check.", kFigures, *checked);
  return device.shutdown();
}

Status check(const ParameterSet& parameters, const std::vector<std::string>&) {
  for (const auto& shape : kShapes) {
    if (is_wanted(shape, parameters)) return {};
  }
  return fail(ErrorCode::kInvalidArgument, "smallest, largest: no copy has such a size");
}

}  // namespace
}  // namespace programs::copy_check

Workload copy_check() {
  auto policy = policy_parameter();
  policy.default_value = "adaptive";
  return {"copy_check",
          "Copies of all sizes, aligned and not: every byte compared, and those around them",
          {{"smallest", ParameterType::kSize, "B", "1", "smallest copy", 1, 64_MiB},
           {"largest", ParameterType::kSize, "B", "64MiB", "largest copy", 1, 1_GiB},
           {"rounds", ParameterType::kInteger, "", "1", "times that all are made", 1, 1000},
           policy,
           ring_parameter(),
           card_parameter()},
          programs::copy_check::run,
          figure_rows(programs::copy_check::kFigures),
          programs::copy_check::check};
}

}  // namespace npu::workloads
