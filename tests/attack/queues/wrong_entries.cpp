// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/queues/wrong_entries.hpp"

#include "npu/abi/page_table.hpp"
#include "npu/driver/queue_entries.hpp"

namespace npu::attack {

namespace entries = driver::entries;
using abi::FaultCode;

namespace {

constexpr std::uint64_t kCodeLine = 128;
constexpr std::uint64_t kVirtualEnd = std::uint64_t{1} << abi::kVirtualBits;

WrongEntry wrong(const char* kind, const abi::QueueEntry& entry, std::vector<FaultCode> codes) {
  return {entry, std::move(codes), 0, 0, kind};
}
WrongEntry wrong_at(const char* kind, const abi::QueueEntry& entry, FaultCode code,
                    std::uint64_t address, std::uint64_t size) {
  return {entry, {code}, address, size, kind};
}

}  // namespace

// Mapped in no process: the first pages, or far behind everything.
driver::DeviceAddress WrongEntries::nowhere() {
  const auto at =
      random_.percent(30) ? random_.below(1_MiB) : kVirtualEnd - 1_GiB + random_.below(512_MiB);
  return {at / 64 * 64};
}

// Of another process, of nobody, or behind the lane's own.
platform::BusAddress WrongEntries::foreign(const Lane& lane) {
  const auto& other = random_.in(*process_.all);
  if (other.get() != &process_ && !other->lanes.empty() && random_.percent(60)) {
    const auto& memory = random_.in(other->lanes)->host;
    if (memory) return memory->bus() + 64 * random_.below(8);
  }
  if (random_.percent(50)) return process_.staging->bus();  // of the card, not of the process
  static_cast<void>(lane);
  return {std::uint64_t{1} << 46 | random_.below(1_GiB) / 64 * 64};
}

WrongEntry WrongEntries::copies(const Lane& lane) {
  const auto size = std::min<Bytes>(lane.cell, 4_KiB);
  const auto cell = lane.device_cell(1 + static_cast<unsigned>(random_.below(kDeviceCells - 1)));
  const auto bus = lane.host_cell(kDeviceCells);
  const auto bad = nowhere();
  const auto other = foreign(lane);
  const auto translation = FaultCode::kTranslation;
  switch (random_.below(9)) {
    case 0:
      return wrong_at("H2D to nowhere", entries::copy_to_device(bus, bad, size), translation,
                      bad.value, size);
    case 1:
      return wrong_at("D2H from nowhere", entries::copy_to_host(bad, bus, size), translation,
                      bad.value, size);
    case 2:
      return wrong_at("D2D from nowhere", entries::copy_on_device(bad, cell, size), translation,
                      bad.value, size);
    case 3:
      return wrong_at("D2D to nowhere", entries::copy_on_device(cell, bad, size), translation,
                      bad.value, size);
    case 4:
      return wrong_at("H2D from foreign memory", entries::copy_to_device(other, cell, size),
                      FaultCode::kHostAddress, other.value, size);
    case 5:
      return wrong_at("D2H to foreign memory", entries::copy_to_host(cell, other, size),
                      FaultCode::kHostAddress, other.value, size);
    case 6:
      return wrong_at("D2H to read-only memory",
                      entries::copy_to_host(cell, process_.read_only->bus(), size),
                      FaultCode::kHostPermission, process_.read_only->bus().value, size);
    case 7:
      return wrong("a copy of 0 bytes", entries::copy_on_device(cell, cell, 0),
                   {FaultCode::kMalformedEntry});
    default:
      return wrong("a copy beyond all addresses",
                   entries::copy_on_device({kVirtualEnd + random_.bits() / 4}, cell, size),
                   {FaultCode::kDeviceAddress});
  }
}

WrongEntry WrongEntries::fills(const Lane& lane) {
  const auto bad = nowhere();
  const auto odd = 1 + random_.below(3);
  switch (random_.below(7)) {
    case 0:
      return wrong_at("a fill of nothing mapped", entries::fill(bad, lane.cell, 7),
                      FaultCode::kTranslation, bad.value, lane.cell);
    case 1:
      return wrong("a fill of 0 bytes", entries::fill(lane.device_cell(1), 0, 7),
                   {FaultCode::kMalformedEntry});
    case 2:
      return wrong("a fill of an odd size", entries::fill(lane.device_cell(1), 4 + odd, 7),
                   {FaultCode::kMalformedEntry});
    case 3:
      return wrong("a fill at an odd address", entries::fill(lane.device_cell(1) + odd, 4, 7),
                   {FaultCode::kMalformedEntry});
    case 4:
      return wrong_at("a timestamp nowhere", entries::timestamp(bad), FaultCode::kTranslation,
                      bad.value, 8);
    case 5:
      return wrong_at("a prefetch of nothing mapped", entries::prefetch(bad, lane.cell),
                      FaultCode::kTranslation, bad.value, lane.cell);
    default:
      return wrong("a timestamp at an odd address", entries::timestamp(lane.stamps() + odd),
                   {FaultCode::kMalformedEntry});
  }
}

WrongEntry WrongEntries::launches(const Lane& lane) {
  const auto blocks = static_cast<std::uint32_t>(1 + random_.below(40));
  const auto at = lane.arguments();
  const auto bad = nowhere();
  const auto launch = [&](driver::DeviceAddress image, driver::DeviceAddress arguments,
                          std::uint32_t bytes = Lane::kArgumentBytes) {
    return entries::launch_image(abi::QueueOpcode::kLaunchAiCore, image, blocks, arguments, bytes);
  };
  const auto kernel = process_.kernel;
  switch (random_.below(8)) {
    case 0: {
      auto entry = launch(kernel, at);
      auto payload = entry.get<abi::LaunchPayload>();
      payload.function = 1 + static_cast<std::uint32_t>(random_.below(1'000'000));
      entry.set(payload);
      return wrong("an unknown function", entry, {FaultCode::kInvalidFunction});
    }
    case 1: {
      auto entry = launch(kernel, at);
      auto payload = entry.get<abi::LaunchPayload>();
      payload.blocks = 0;
      entry.set(payload);
      return wrong("no blocks", entry, {FaultCode::kMalformedEntry});
    }
    case 2:
      return wrong("arguments at an odd address", launch(kernel, at + 1 + random_.below(63)),
                   {FaultCode::kMalformedEntry});
    case 3:
      return wrong(
          "too many bytes of arguments",
          launch(kernel, at,
                 abi::kMaxArgumentBytes + 1 + static_cast<std::uint32_t>(random_.below(1'000'000))),
          {FaultCode::kMalformedEntry});
    case 4:
      return wrong("an image that is none", launch(lane.halves(), at), {FaultCode::kInvalidImage});
    case 5:
      return wrong_at("arguments nowhere", launch(kernel, bad), FaultCode::kTranslation, bad.value,
                      Lane::kArgumentBytes);
    case 6:
      // Programs are read in whole lines (core.instruction_line_bytes).
      return wrong_at("an image nowhere", launch(bad, at), FaultCode::kTranslation,
                      bad.value / kCodeLine * kCodeLine, kCodeLine);
    default:
      return wrong("no program", launch({}, at), {FaultCode::kInvalidFunction});
  }
}

WrongEntry WrongEntries::signals(const Lane& lane) {
  const auto beyond = driver::SignalId{
      process_.options.signals +
      static_cast<std::uint32_t>(random_.below(random_.percent(50) ? 3 : 1'000'000))};
  switch (random_.below(3)) {
    case 0:
      return wrong_at("a record beyond the signals", entries::record_event(beyond, 1),
                      FaultCode::kInvalidSignal, beyond.value, 1);
    case 1:
      return wrong_at("a wait beyond the signals", entries::wait_event(beyond, 1),
                      FaultCode::kInvalidSignal, beyond.value, 1);
    default:
      return wrong("a wait for no condition",
                   entries::wait_event(lane.signal, 1,
                                       static_cast<abi::WaitCondition>(3 + random_.below(1000))),
                   {FaultCode::kMalformedEntry});
  }
}

WrongEntry WrongEntries::headers(const Lane& lane) {
  auto entry = random_.percent(50) ? entries::nop() : entries::fill(lane.device_cell(1), 4, 7);
  switch (random_.below(4)) {
    case 0:
      entry.opcode =
          random_.of<std::uint8_t>({0x00, 0x06, 0x0F, 0x12, 0x1F, 0x25, 0x31, 0x7F, 0xFF});
      return wrong("an unknown opcode", entry, {FaultCode::kMalformedEntry});
    case 1:
      entry.format = static_cast<std::uint8_t>(random_.percent(50) ? 0 : 2 + random_.below(254));
      return wrong("an unknown format", entry, {FaultCode::kMalformedEntry});
    case 2:
      entry.flags = static_cast<std::uint16_t>(0x10U << random_.below(12));
      return wrong("an unknown flag", entry, {FaultCode::kMalformedEntry});
    default:
      entry.flags = abi::kEntryHostAddress;
      return wrong("a flag of others", entry, {FaultCode::kMalformedEntry});
  }
}

// Bits that mean nothing: no address of them is mapped, no slot is a signal.
WrongEntry WrongEntries::garbage() {
  abi::QueueEntry entry;
  for (auto& byte : entry.payload) byte = static_cast<std::uint8_t>(random_.bits());
  entry.tag = static_cast<std::uint32_t>(random_.bits());
  entry.opcode = static_cast<std::uint8_t>(random_.bits());
  entry.format = static_cast<std::uint8_t>(random_.bits());
  entry.flags = static_cast<std::uint16_t>(random_.bits());
  if (random_.percent(30)) return wrong("a random entry", entry, {});
  using Opcode = abi::QueueOpcode;
  entry.opcode = static_cast<std::uint8_t>(random_.of(
      {Opcode::kHostToDevice, Opcode::kDeviceToHost, Opcode::kDeviceToDevice, Opcode::kPeerToPeer,
       Opcode::kFill, Opcode::kPrefetch, Opcode::kLaunchAiCore, Opcode::kLaunchAicpu,
       Opcode::kEventRecord, Opcode::kEventWait, Opcode::kTimestamp}));
  entry.format = abi::kQueueEntryFormat;
  entry.flags = static_cast<std::uint16_t>(random_.percent(50) ? abi::kEntryBarrier : 0);
  return wrong("a random payload", entry, {});
}

WrongEntry WrongEntries::any(const Lane& lane) {
  const auto drawn = random_.below(100);
  if (drawn < 30) return copies(lane);
  if (drawn < 45) return fills(lane);
  if (drawn < 65) return launches(lane);
  if (drawn < 75) return signals(lane);
  if (drawn < 85) return headers(lane);
  for (;;) {
    auto made = garbage();
    const auto opcode = static_cast<abi::QueueOpcode>(made.entry.opcode);
    const bool harmless = opcode == abi::QueueOpcode::kNop || opcode == abi::QueueOpcode::kNotify ||
                          opcode == abi::QueueOpcode::kBarrier;
    if (!harmless) return made;
  }
}

}  // namespace npu::attack
