// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/misuse.hpp"

#include <algorithm>

namespace npu::attack {

namespace {

constexpr Bytes kLastPage = ~Bytes{0} - kPageSize + 1;
constexpr auto kInvalid = ErrorCode::kInvalidArgument;

}  // namespace

void Misuse::expect(const char* what, const Status& status,
                    std::initializer_list<ErrorCode> codes) {
  const bool right =
      !status && std::find(codes.begin(), codes.end(), status.error().code) != codes.end();
  if (right) return;
  process_.world.find(
      fmt::format("{}: {} expected, {}", what, to_string(*codes.begin()), text(status)));
}

// No whole pages.
Bytes Misuse::odd_size() {
  if (random_.percent(30)) return 0;
  return random_.below(Bytes{1} << random_.below(50)) * kPageSize + 1 +
         random_.below(kPageSize - 1);
}

void Misuse::call() {
  using Kind = void (Misuse::*)(SpaceModel&);
  static constexpr Kind kKinds[] = {&Misuse::sizes,    &Misuse::reservations, &Misuse::maps,
                                    &Misuse::mapped,   &Misuse::handles,      &Misuse::stale,
                                    &Misuse::commands, &Misuse::streams};
  auto& space = process_.any_space();
  const auto index = space.card;
  const auto before = process_.card(index).memory_statistics();
  (this->*kKinds[random_.below(std::size(kKinds))])(space);
  if (!process_.world.alone) return;
  const auto after = process_.card(index).memory_statistics();
  if (after.free == before.free && after.allocations == before.allocations) return;
  process_.world.find(
      fmt::format("a refused call changed free memory from {} to {}", before.free, after.free));
}

void Misuse::sizes(SpaceModel& space) {
  auto& card = process_.card(space.card);
  switch (random_.below(7)) {
    case 0:
      return expect("create_memory(odd)", space.space->create_memory(odd_size()), {kInvalid});
    case 1:
      return expect("allocate(0)", space.space->allocate(0), {kInvalid});
    case 2:
      return expect("allocate(maximal)", space.space->allocate(~Bytes{0} - random_.below(3_MiB)),
                    {ErrorCode::kOutOfMemory});
    case 3:
      return expect("create_memory(maximal)",
                    space.space->create_memory(kLastPage - random_.below(9) * kPageSize),
                    {ErrorCode::kOutOfMemory});
    case 4:
      return expect("compact(0)", card.compact(0), {kInvalid});
    case 5:
      return expect(
          "compact(beyond the card)",
          card.compact(card.memory_statistics().total + 1 + random_.bits() % kLastPage / 2),
          {ErrorCode::kOutOfMemory});
    default:
      return expect("allocate(beyond the card)",
                    space.space->allocate(card.memory_statistics().total + 1),
                    {ErrorCode::kOutOfMemory});
  }
}

void Misuse::reservations(SpaceModel& space) {
  switch (random_.below(4)) {
    case 0:
      return expect("reserve(odd)", space.space->reserve(odd_size()), {kInvalid});
    case 1:
      return expect("reserve(maximal)", space.space->reserve(kLastPage),
                    {ErrorCode::kOutOfResources});
    case 2:
      return expect("reserve(17 TiB)", space.space->reserve(17_GiB << 10U),
                    {ErrorCode::kOutOfResources});
    default: {
      const Bytes alignment =
          random_.of({Bytes{0}, Bytes{1}, kPageSize / 2, kPageSize + 1, 3 * kPageSize, ~Bytes{0}});
      return expect("reserve(wrong alignment)", space.space->reserve(kPageSize, alignment),
                    {kInvalid});
    }
  }
}

// Into a reservation, but not as it may be.
void Misuse::maps(SpaceModel& space) {
  if (space.reserved.empty() || space.held.empty()) return;
  const auto [begin, reservation] = *process_.any(space.reserved);
  const auto& memory = random_.in(space.held);
  const DeviceAddress at{begin};
  const Bytes size = reservation.pages * kPageSize;
  const auto map = [&](DeviceAddress where, Bytes bytes, Bytes offset) {
    return space.space->map(where, bytes, memory.handle, offset);
  };
  switch (random_.below(8)) {
    case 0:
      return expect("map(odd address)", map(at + 1 + random_.below(kPageSize - 1), kPageSize, 0),
                    {kInvalid});
    case 1:
      return expect("map(odd size)", map(at, odd_size(), 0), {kInvalid});
    case 2:
      return expect("map(over the end)", map(at, size + kPageSize, 0), {kInvalid});
    case 3:
      return expect("map(maximal)", map(at, kLastPage, 0), {kInvalid});
    case 4:  // kBusy comes first where something is mapped, or allocate()'s
      return expect("map(beyond the memory)", map(at, kPageSize, memory.block->pages * kPageSize),
                    {kInvalid, ErrorCode::kBusy});
    case 5:
      return expect("map(odd offset)", map(at, kPageSize, 1 + random_.below(kPageSize - 1)),
                    {kInvalid, ErrorCode::kBusy});
    case 6:
      return expect("map(offset overflows)", map(at, kPageSize, kLastPage),
                    {kInvalid, ErrorCode::kBusy});
    default: {
      const DeviceAddress nowhere{random_.bits() / kPageSize * kPageSize};
      if (space.range_of(nowhere.value)) return;
      return expect("map(in no reservation)", map(nowhere, kPageSize, 0), {kInvalid});
    }
  }
}

// What is mapped, and what is not.
void Misuse::mapped(SpaceModel& space) {
  if (space.reserved.empty()) return;
  const auto [begin, reservation] = *process_.any(space.reserved);
  const auto page = begin + random_.below(reservation.pages) * kPageSize;
  const DeviceAddress at{page};
  const Bytes over_end = begin + reservation.pages * kPageSize - page + kPageSize;
  const auto access = random_.of({Access::kNone, Access::kRead, Access::kReadWrite});
  if (space.pages.count(page) == 0) {
    expect("unmap(nothing)", space.space->unmap(at, kPageSize), {kInvalid});
    return expect("set_access(nothing)", space.space->set_access(at, kPageSize, access),
                  {kInvalid});
  }
  expect("unmap(over the end)", space.space->unmap(at, over_end), {kInvalid});
  expect("set_access(over the end)", space.space->set_access(at, over_end, access), {kInvalid});
  expect("unmap(odd)", space.space->unmap(at, odd_size()), {kInvalid});
  expect("set_access(odd)", space.space->set_access(at + 4096, kPageSize, access), {kInvalid});
  expect("set_access(no access that exists)",
         space.space->set_access(at, kPageSize, static_cast<Access>(3 + random_.below(200))),
         {kInvalid});
  expect("free(inside)", space.space->free(at + random_.below(kPageSize - 1) + 1), {kInvalid});
  if (space.held.empty()) return;
  expect("map(over what is mapped)", space.space->map(at, kPageSize, random_.in(space.held).handle),
         {ErrorCode::kBusy});
}

void Misuse::handles(SpaceModel& space) {
  auto& other = process_.any_space();
  auto handle = MemoryHandle{static_cast<std::uint32_t>(random_.bits()),
                             static_cast<std::uint32_t>(random_.bits())};
  const bool foreign = !other.held.empty() && other.card == space.card;
  if (foreign) {
    const auto& held = random_.in(other.held);
    if (space.holds(held.block.get())) return;
    handle = held.handle;
  } else if (random_.percent(20)) {
    handle = {};
  }
  expect("release_memory(foreign)", space.space->release_memory(handle), {kInvalid});
  expect("import_memory(foreign)", other.space->import_memory(*space.space, handle), {kInvalid});
  const auto at = space.space->reserve(kPageSize);
  if (!at) return process_.world.find("reserve(): " + text(at));
  expect("map(foreign)", space.space->map(*at, kPageSize, handle), {kInvalid});
  const auto released = space.space->release(*at);
  if (!released) process_.world.find("release(): " + text(released));
}

void Misuse::stale(SpaceModel& space) {
  if (!process_.stale_addresses.empty()) {
    const auto at = random_.in(process_.stale_addresses);
    if (!space.range_of(at.value)) {
      expect("free(stale)", space.space->free(at), {kInvalid});
      expect("release(stale)", space.space->release(at), {kInvalid});
      expect("unmap(stale)", space.space->unmap(at, kPageSize), {kInvalid});
    }
  }
  if (process_.stale_handles.empty()) return;
  const auto handle = random_.in(process_.stale_handles);
  for (const auto& held : space.held) {
    if (held.handle == handle) return;
  }
  expect("release_memory(stale)", space.space->release_memory(handle), {kInvalid});
}

void Misuse::commands(SpaceModel& space) {
  if (process_.streams.empty()) return;
  const auto& stream = random_.in(process_.streams);
  auto& card = process_.card(stream.card);
  const auto opcode = random_.of({abi::DmaOpcode::kHostToDevice, abi::DmaOpcode::kDeviceToHost,
                                  abi::DmaOpcode::kDeviceToDevice, abi::DmaOpcode::kPeerToPeer});
  const auto source = random_.bits() >> 1, destination = random_.bits() >> 1;
  const auto of_size = [&](Bytes size, std::uint64_t from) {
    return driver::DmaCommand::untyped(opcode, from, destination, size);
  };
  const auto command = of_size(4096, source);
  driver::SubmitOptions options;
  switch (random_.below(5)) {
    case 0:
      return expect("submit(0 bytes)", card.submit(stream.id, of_size(0, source)), {kInvalid});
    case 1:
      return expect("submit(overflow)",
                    card.submit(stream.id, of_size(~Bytes{0} - random_.below(16), source | 64)),
                    {ErrorCode::kOutOfRange});
    case 2: {
      const auto none = static_cast<std::uint16_t>(900 + random_.below(60000));
      return expect("submit(no stream)", card.submit({none}, command), {ErrorCode::kNotFound});
    }
    case 3:
      options.event = {static_cast<std::uint32_t>(70000 + random_.below(1U << 31))};
      return expect("submit(no event)", card.submit(stream.id, command, options),
                    {ErrorCode::kNotFound});
    default: {
      driver::StreamOptions bar0;
      bar0.placement = driver::StreamPlacement::kBar0;
      bar0.space = stream.card == space.card ? space.space : nullptr;
      return expect("create_stream(BAR0)", card.create_stream(bar0), {ErrorCode::kOutOfRange});
    }
  }
}

void Misuse::streams(SpaceModel& space) {
  auto& card = process_.card(space.card);
  const driver::StreamId none{static_cast<std::uint16_t>(900 + random_.below(60000))};
  const driver::EventId no_event{static_cast<std::uint32_t>(70000 + random_.below(1U << 31))};
  const auto deadline = process_.world.deadline();
  expect("destroy_stream(none)", card.destroy_stream(none, deadline), {ErrorCode::kNotFound});
  expect("stream_event(none)", card.stream_event(none), {ErrorCode::kNotFound});
  expect("destroy_event(none)", card.destroy_event(no_event), {ErrorCode::kNotFound});
  driver::Ticket ticket;
  ticket.event = no_event;
  expect("wait(no event)", card.wait(ticket, driver::WaitPolicy::kPolling, deadline),
         {ErrorCode::kNotFound});
  expect("is_done(no event)", card.is_done(ticket), {ErrorCode::kNotFound});
  if (process_.world.cards.size() < 2) return;
  driver::StreamOptions options;
  options.space = space.space;
  expect("create_stream(of another card)", process_.card(1 - space.card).create_stream(options),
         {kInvalid});
}

}  // namespace npu::attack
