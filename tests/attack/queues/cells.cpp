// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/queues/cells.hpp"

#include <cstring>

#include "npu/driver/program.hpp"
#include "tests/support/folders.hpp"

namespace npu::attack {

Status Cells::copy(bool to_device, driver::DeviceAddress at, Bytes size) {
  auto& world = process_.world;
  const auto bus = process_.staging->bus();
  const auto command = to_device ? driver::DmaCommand::host_to_device(bus, at, size)
                                 : driver::DmaCommand::device_to_host(at, bus, size);
  world.dma->lock();
  auto done =
      process_.card().copy(process_.stream, command, driver::WaitPolicy::kPolling, world.in(1_s));
  world.dma->unlock();
  if (!done && !world.stopped) world.find("a copy of the card's own ring: " + text(done));
  return done;
}

Status Cells::load_kernel() {
  const std::string object = file_text(binary_dir() + "/programs/queue_attack_add.npu");
  const auto image = driver::make_image(
      abi::ImageKind::kAiCore, {reinterpret_cast<const std::byte*>(object.data()), object.size()});
  if (!image) return forward_error(image);
  const auto memory = process_.context->space().allocate(image->size());
  if (!memory) return forward_error(memory);
  process_.kernel = memory->address;
  std::memcpy(process_.staging->cpu().data, image->data(), image->size());
  return copy(true, process_.kernel, image->size());
}

Status Cells::make(Lane& lane, Bytes cell) {
  lane.cell = cell;
  const auto memory = process_.context->space().allocate(4_KiB + (1 + kDeviceCells) * cell);
  if (!memory) return forward_error(memory);
  lane.memory = memory->address;
  auto host = process_.context->allocate_host(4_KiB + kHostCells * cell);
  if (!host) return forward_error(host);
  lane.host = std::move(*host);
  const auto signal = process_.context->signals().create();
  if (!signal) return forward_error(signal);
  lane.signal = *signal;
  lane.recorded = 1;
  return {};
}

void Cells::reset(Lane& lane) {
  const Bytes words = lane.cell / 4;
  const std::uint64_t add[] = {lane.device_cell(kSumCell).value, lane.halves().value, lane.cell};
  static_assert(sizeof add == Lane::kArgumentBytes);
  const auto staging = process_.staging->cpu();
  CellValues values{};
  for (auto& value : values) value = static_cast<std::uint32_t>(process_.random.bits());
  values[kSumCell] = 0x3F80'0000;  // 1.0
  std::memset(staging.data, 0, 4_KiB);
  std::memcpy(staging.data, &add, sizeof add);
  for (unsigned block = 0; block <= kDeviceCells; ++block) {
    const std::uint32_t value = block == 0 ? 0x3F00'0000 : values[block - 1];  // 0.5
    for (Bytes i = 0; i < words; ++i) {
      std::memcpy(staging.data + 4_KiB + block * lane.cell + 4 * i, &value, 4);
    }
  }
  for (unsigned i = kDeviceCells; i < kCells; ++i) {
    for (Bytes at = 0; at < lane.cell; at += 4) {
      std::memcpy(lane.host_bytes(i).data + at, &values[i], 4);
    }
  }
  std::memset(lane.host->cpu().data, 0, 4_KiB);
  static_cast<void>(copy(true, lane.memory, 4_KiB + (1 + kDeviceCells) * lane.cell));
  lane.journal.begin(values);
  lane.known_done = 0;
  lane.touched = 0;
  lane.stamped.clear();
}

CellWords Cells::read(const Lane& lane) {
  CellWords words;
  if (!process_.world.stopped && copy(false, lane.device_cell(0), kDeviceCells * lane.cell)) {
    for (unsigned i = 0; i < kDeviceCells; ++i) {
      words[i].resize(static_cast<std::size_t>(lane.cell / 4));
      std::memcpy(words[i].data(), process_.staging->cpu().data + i * lane.cell,
                  static_cast<std::size_t>(lane.cell));
    }
  }
  for (unsigned i = kDeviceCells; i < kCells; ++i) {
    words[i].resize(static_cast<std::size_t>(lane.cell / 4));
    std::memcpy(words[i].data(), lane.host_bytes(i).data, static_cast<std::size_t>(lane.cell));
  }
  for (const auto& cell : words) process_.world.compared += 4 * cell.size();
  return words;
}

void Cells::check_stamps(Lane& lane) {
  if (lane.stamped.empty() || !copy(false, lane.stamps(), 8 * Lane::kStamps)) return;
  std::array<std::uint64_t, Lane::kStamps> times{};
  std::memcpy(times.data(), lane.host->cpu().data, 4 * 8);
  std::memcpy(&times[4], process_.staging->cpu().data + 4 * 8, 4 * 8);
  std::array<std::uint64_t, Lane::kStamps> numbers{};
  for (const auto& stamp : lane.stamped) numbers[stamp.place] = stamp.number + 1;
  for (unsigned a = 0; a < Lane::kStamps; ++a) {
    if (numbers[a] == 0) continue;
    if (times[a] == 0) process_.find(lane, "a timestamp was not written");
    for (unsigned b = 0; b < Lane::kStamps; ++b) {
      if (numbers[b] > numbers[a] && times[b] < times[a]) {
        process_.find(lane, fmt::format("entry {} was stamped {} ns, a later one {} ns",
                                        numbers[a] - 1, times[a], times[b]));
      }
    }
  }
}

}  // namespace npu::attack
