// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/wrong_copies.hpp"

#include <algorithm>

namespace npu::attack {

using driver::DmaCommand;

// With an event of its own: a fault stays with an event.
void WrongCopies::must_fail(const StreamModel& stream, const DmaCommand& command) {
  auto& card = process_.card(stream.card);
  driver::SubmitOptions options;
  const auto event = card.create_event();
  if (!event) return world_.find("an event for a fault: " + text(event));
  options.event = *event;
  const auto ticket = card.submit(stream.id, command, options);
  if (!ticket) return world_.find("submit() of a wrong address: " + text(ticket));
  ++world_.sure_faults[stream.card];
  ++world_.faults;
  const auto status = card.wait(*ticket, driver::WaitPolicy::kAdaptive, world_.deadline());
  if (status || status.error().code != ErrorCode::kDeviceFault) {
    world_.find(fmt::format("{} of {} bytes from {:#x} to {:#x}: a device fault expected, {}",
                            to_string(command.opcode()), command.size(), command.source(),
                            command.destination(), text(status)));
  }
  const auto gone = card.destroy_event(*event);
  if (!gone) world_.find("destroy_event() after a fault: " + text(gone));
}

std::uint64_t WrongCopies::wrong_device_address(SpaceModel& space, bool write, Bytes size) {
  auto& other = process_.any_space();
  for (int attempt = 0; attempt < 8; ++attempt) {
    std::uint64_t at = random_.bits() >> 2;
    const auto choice = random_.below(6);
    if (choice == 0 && !process_.stale_addresses.empty()) {
      at = random_.in(process_.stale_addresses).value + random_.below(kPageSize);
    } else if (choice == 1 && !other.pages.empty()) {
      at = process_.any(other.pages)->first + random_.below(kPageSize);
    } else if (choice >= 2 && choice <= 4 && !space.reserved.empty()) {  // holes, ends, forbidden
      const auto [begin, reservation] = *process_.any(space.reserved);
      at = begin + random_.below(reservation.pages + 1) * kPageSize - random_.below(4096);
    }
    if (space.accessible(at, size, write) < size) return at;
  }
  return 0;  // mapped in no space
}

platform::BusAddress WrongCopies::wrong_bus_address(unsigned card, Bytes size) {
  const auto& buffer = *transfers_.buffer(card).memory;
  if (random_.percent(50)) return {random_.bits() >> 17 << 12 | 1ULL << 46};
  if (random_.percent(50))
    return buffer.bus() + (Transfers::kBuffer - random_.below(std::min(size, Transfers::kBuffer)));
  return buffer.bus() + Transfers::kBuffer;
}

// The bytes that the command may have written: parts of it are on their way at the same time, so
// that some of those behind a wrong address may arrive as well.
void WrongCopies::forget(SpaceModel& space, std::uint64_t at, Bytes size) {
  for (const Bytes end = at + size; at < end;) {
    const auto page = space.pages.lower_bound(at / kPageSize * kPageSize);
    if (page == space.pages.end() || page->first >= end) return;
    at = std::max(at, page->first);
    const Bytes piece = std::min(end, page->first + kPageSize) - at;
    const auto& [block, index, access, first] = page->second;
    if (access == Access::kReadWrite) {
      block->shadow.forget(index * kPageSize + at - page->first, piece);
    }
    at += piece;
  }
}

void WrongCopies::write_to_read_only(const StreamModel& stream) {
  auto& space = *stream.space;
  if (space.pages.empty()) return;
  const auto& memory = *transfers_.buffer(stream.card).read_only;
  const DeviceAddress from{process_.any(space.pages)->first};
  const Bytes size = process_.any_size(64_KiB);
  must_fail(stream, DmaCommand::device_to_host(from, memory.bus() + (64_KiB - size), size));
  const auto bytes = memory.cpu();
  const bool untouched = std::all_of(bytes.data, bytes.data + bytes.size,
                                     [](std::byte byte) { return byte == std::byte{0}; });
  world_.compared += bytes.size;
  if (!untouched) world_.find("host memory that the card may not write was written");
}

void WrongCopies::fault() {
  if (process_.streams.empty()) return;
  transfers_.finish();
  const auto stream = random_.in(process_.streams);
  auto& space = *stream.space;
  auto& host = transfers_.buffer(stream.card);
  const Bytes size = random_.percent(5) ? (Bytes{1} << 33) + random_.below(4_GiB)
                                        : std::min(process_.any_size(4_MiB), Transfers::kBuffer);
  const auto at_host = host.memory->bus();
  const auto place = process_.any_size(Transfers::kBuffer) - 1;
  switch (random_.below(6)) {
    case 0: {  // the wrong end is the device's; large ones run over both
      const DeviceAddress to{wrong_device_address(space, true, size)};
      forget(space, to.value, size);
      return must_fail(stream, DmaCommand::host_to_device(at_host, to, size));
    }
    case 1: {
      const DeviceAddress from{wrong_device_address(space, false, size)};
      if (space.accessible(from.value, 1, false) != 0) host.shadow.forget(0, Transfers::kBuffer);
      return must_fail(stream, DmaCommand::device_to_host(from, at_host, size));
    }
    case 2: {
      const DeviceAddress from{wrong_device_address(space, false, size)};
      const DeviceAddress to{space.pages.empty() ? 0 : process_.any(space.pages)->first + place};
      if (space.accessible(from.value, 1, false) != 0) forget(space, to.value, size);
      return must_fail(stream, DmaCommand::device_to_device(from, to, size));
    }
    case 3: {
      const DeviceAddress to{space.pages.empty() ? 0 : process_.any(space.pages)->first + place};
      forget(space, to.value, size);
      const auto from = wrong_bus_address(stream.card, size);
      return must_fail(stream, DmaCommand::host_to_device(from, to, size));
    }
    case 4:
      return write_to_read_only(stream);
    default: {
      const DeviceAddress from{space.pages.empty() ? 0 : process_.any(space.pages)->first};
      const auto to = wrong_bus_address(stream.card, size);
      host.shadow.forget(0, Transfers::kBuffer);
      return must_fail(stream, DmaCommand::device_to_host(from, to, size));
    }
  }
}

void WrongCopies::pull_away() {
  if (process_.streams.empty()) return;
  transfers_.finish();
  const auto stream = random_.in(process_.streams);
  auto& space = *stream.space;
  auto& card = process_.card(stream.card);
  const Bytes size = 1 + process_.any_size(3_MiB);
  const auto memory = space.space->allocate(size);
  if (!memory) return;  // full
  const auto event = card.create_event();
  if (!event) return world_.find("an event: " + text(event));
  driver::SubmitOptions options;
  options.event = *event;
  const auto bus = transfers_.buffer(stream.card).memory->bus();
  const auto ticket =
      card.submit(stream.id, DmaCommand::host_to_device(bus, memory->address, size), options);
  if (!ticket) return world_.find("submit(): " + text(ticket));
  const auto pause = static_cast<std::int64_t>(process_.any_size(200'000'000));
  world_.host.clock().sleep_until(world_.host.clock().now() + Picoseconds(pause));
  const auto freed = space.space->free(memory->address);
  if (!freed) world_.find("free() while it is written: " + text(freed));
  process_.keep_stale(memory->address);
  ++world_.maybe_faults[stream.card];
  const auto status = card.wait(*ticket, driver::WaitPolicy::kAdaptive, world_.deadline());
  if (!status && status.error().code != ErrorCode::kDeviceFault) {
    world_.find("a copy whose memory is freed: success or a device fault expected, " +
                text(status));
  }
  const auto gone = card.destroy_event(*event);
  if (!gone) world_.find("destroy_event(): " + text(gone));
}

}  // namespace npu::attack
