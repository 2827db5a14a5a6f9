// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/queues/right_entries.hpp"

#include "npu/driver/queue_entries.hpp"

namespace npu::attack {

namespace entries = driver::entries;
using Kind = Operation::Kind;

RightEntry RightEntries::fill(Lane& lane) {
  RightEntry right;
  const auto to = 1 + static_cast<unsigned>(process_.random.below(kDeviceCells - 1));
  const auto value = static_cast<std::uint32_t>(process_.random.bits());
  right.entry = entries::fill(lane.device_cell(to), lane.cell, value);
  right.operation = {Kind::kFill, 0, to, value};
  right.touches = 1U << to;
  return right;
}

RightEntry RightEntries::add(Lane& lane) {
  RightEntry right;
  const auto blocks = 1 + process_.random.below(process_.random.percent(20) ? 100 : 8);
  right.entry = entries::launch_image(abi::QueueOpcode::kLaunchAiCore, process_.kernel,
                                      static_cast<std::uint32_t>(blocks), lane.arguments(),
                                      Lane::kArgumentBytes);
  right.operation = {Kind::kAdd, 0, kSumCell, 0};
  right.touches = 1U << kSumCell;
  return right;
}

RightEntry RightEntries::copy(Lane& lane) {
  auto& random = process_.random;
  RightEntry right;
  auto from = static_cast<unsigned>(random.below(kCells));
  auto to = 1 + static_cast<unsigned>(random.below(kCells - 2));
  if (from >= kDeviceCells && to >= kDeviceCells) to = 1 + from % (kDeviceCells - 1);
  if (from == to) from = kInputCell;
  if (from >= kDeviceCells && to >= kDeviceCells) from = kSumCell;
  if (from >= kDeviceCells) {
    right.entry = entries::copy_to_device(lane.host_cell(from), lane.device_cell(to), lane.cell);
  } else if (to >= kDeviceCells) {
    right.entry = entries::copy_to_host(lane.device_cell(from), lane.host_cell(to), lane.cell);
  } else {
    right.entry = entries::copy_on_device(lane.device_cell(from), lane.device_cell(to), lane.cell);
  }
  right.operation = {Kind::kCopy, from, to, 0};
  right.touches = 1U << to | (from == kInputCell ? 0U : 1U << from);
  return right;
}

// For what was recorded before it, so that it ends.
RightEntry RightEntries::wait(Lane& lane) {
  RightEntry right;
  auto* other = process_.any_lane();
  if (other == nullptr || other->poisoned) other = &lane;
  const auto condition =
      process_.random.percent(80) ? abi::WaitCondition::kReached : abi::WaitCondition::kNotEqual;
  const auto value = condition == abi::WaitCondition::kNotEqual ? 0 : other->recorded;
  right.entry = entries::wait_event(other->signal, value, condition);
  return right;
}

// For what nobody records.
RightEntry RightEntries::late_wait(Lane& lane) {
  RightEntry right;
  const auto timeout =
      Picoseconds(1'000 + static_cast<std::int64_t>(process_.random.below(20'000'000)));
  right.entry = entries::wait_event(lane.signal, lane.recorded + (1ULL << 40),
                                    abi::WaitCondition::kReached, timeout);
  right.outcome = Outcome::kWaitTimeout;
  return right;
}

RightEntry RightEntries::stamp(Lane& lane) {
  RightEntry right;
  const auto place = process_.random.below(Lane::kStamps);
  right.entry = place < 4 ? entries::timestamp(lane.host->bus() + 8 * place)
                          : entries::timestamp(lane.stamps() + 8 * place);
  right.stamp = static_cast<int>(place);
  return right;
}

// Changes nothing, whoever writes there meanwhile.
RightEntry RightEntries::prefetch(Lane& lane) {
  RightEntry right;
  const auto from = static_cast<unsigned>(process_.random.below(kDeviceCells));
  right.entry = entries::prefetch(lane.device_cell(from), 1 + process_.random.below(lane.cell));
  return right;
}

RightEntry RightEntries::any(Lane& lane, std::uint64_t recorded) {
  RightEntry right;
  const auto drawn = process_.random.below(100);
  if (drawn < 15) return fill(lane);
  if (drawn < 20) return prefetch(lane);
  if (drawn < 45) return add(lane);
  if (drawn < 70) return copy(lane);
  if (drawn < 76) return wait(lane);
  if (drawn < 78) return late_wait(lane);
  if (drawn < 84) return stamp(lane);
  if (drawn < 91) {
    right.records = recorded + 1;
    right.entry = entries::record_event(lane.signal, right.records);
    return right;
  }
  right.entry = drawn < 94 ? entries::barrier() : drawn < 97 ? entries::nop() : entries::notify();
  return right;
}

}  // namespace npu::attack
