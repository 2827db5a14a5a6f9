// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/core_window.hpp"

#include "npu/abi/pmu.hpp"

namespace npu::model {

using platform::Pipe;

namespace {

constexpr std::uint32_t kAllOnes = 0xFFFF'FFFF;

// Index of the counter register at `offset`, in a row of them.
template <class First>
bool in_row(std::uint32_t offset, std::uint32_t stride, unsigned count, unsigned& index) {
  if (offset < First::kOffset || (offset - First::kOffset) % stride != 0) return false;
  index = (offset - First::kOffset) / stride;
  return index < count;
}

// PMU events (runtime.md A5): busy clocks of a pipe.
struct PipeEvent {
  std::uint32_t event;
  Pipe pipe;
};
constexpr PipeEvent kPipeEvents[] = {{0x08, Pipe::kVector},
                                     {0x0A, Pipe::kCube},
                                     {0x0B, Pipe::kMte1},
                                     {0x0C, Pipe::kMte2},
                                     {0x0D, Pipe::kMte3}};
// What core_events.hpp counts.
struct CountedEvent {
  std::uint32_t event;
  CoreEvent counted;
  bool time;
};
constexpr CountedEvent kCountedEvents[] = {
    {0x49, CoreEvent::kCubeFloat, true},      {0x4A, CoreEvent::kCubeInt8, true},
    {0x4B, CoreEvent::kVectorFp32, true},     {0x4C, CoreEvent::kVectorFp16, true},
    {0x4D, CoreEvent::kVectorFp16Wide, true}, {0x4E, CoreEvent::kVectorInt32, true},
    {0x4F, CoreEvent::kVectorOther, true},    {0x15, CoreEvent::kUbReads, false},
    {0x16, CoreEvent::kUbWrites, false},      {0x31, CoreEvent::kL1Reads, false},
    {0x32, CoreEvent::kL1Writes, false},      {0x0F, CoreEvent::kL2Reads, false},
    {0x10, CoreEvent::kL2Writes, false},      {0x12, CoreEvent::kMainReads, false},
    {0x13, CoreEvent::kMainWrites, false},    {0x1B, CoreEvent::kL0aReads, false},
    {0x1C, CoreEvent::kL0aWrites, false},     {0x21, CoreEvent::kL0bReads, false},
    {0x22, CoreEvent::kL0bWrites, false},     {0x27, CoreEvent::kL0cReads, false},
    {0x28, CoreEvent::kL0cWrites, false},     {0x66, CoreEvent::kVectorTaken, true},
    {0x3D, CoreEvent::kUbMteReads, false},    {0x3E, CoreEvent::kUbMteWrites, false},
    {0x43, CoreEvent::kUbVectorReads, false}, {0x44, CoreEvent::kUbVectorWrites, false},
    {0x37, CoreEvent::kUbScalarReads, false}, {0x38, CoreEvent::kUbScalarWrites, false},
    {0x500, CoreEvent::kL2WriteHits, false},  {0x502, CoreEvent::kL2WriteMisses, false},
    {0x504, CoreEvent::kL2ReadHits, false},   {0x506, CoreEvent::kL2ReadMisses, false}};
// A core of the model reads over one channel.
constexpr std::uint32_t kSecondChannelHits = 0x508, kSecondChannelMisses = 0x50A;
constexpr std::uint32_t kScalarEvent = 0x09;
constexpr std::uint32_t kCodeLines = 0x54, kCodeMisses = 0x55;

}  // namespace

std::uint64_t CoreWindow::clocks(SimTime time) const {
  const auto mhz = clock_.rated_mhz();
  return time / 1'000'000 * mhz + time % 1'000'000 * mhz / 1'000'000;
}

std::uint32_t CoreWindow::counter(unsigned index) const {
  const bool on = pmu_control_ == abi::PmuControl::kEnable;
  const ProgramCoreStatistics& now = on ? statistics_ : stopped_;
  const std::uint32_t event = events_[index];
  for (const auto& [number, pipe] : kPipeEvents) {
    const auto i = static_cast<std::size_t>(pipe);
    if (event == number) return static_cast<std::uint32_t>(clocks(now.busy[i] - began_.busy[i]));
  }
  for (const auto& [number, counted, time] : kCountedEvents) {
    const std::uint64_t count = now.events[counted] - began_.events[counted];
    if (event == number) return static_cast<std::uint32_t>(time ? clocks(count) : count);
  }
  const auto scalar = static_cast<std::size_t>(Pipe::kScalar);
  switch (event) {
    case kScalarEvent:
      return static_cast<std::uint32_t>(clocks(now.busy[scalar] - began_.busy[scalar]));
    case kCodeLines:
      return static_cast<std::uint32_t>(now.code_lines - began_.code_lines);
    case kCodeMisses:
      return static_cast<std::uint32_t>(now.code_misses - began_.code_misses);
    case kSecondChannelHits:
    case kSecondChannelMisses:
      return 0;
    default:
      return event == 0 ? 0 : abi::kPmuUnknown;
  }
}

std::uint32_t CoreWindow::read(std::uint32_t offset) const {
  if (offset == abi::FastPathEnable::kOffset) return fast_path_;
  return open() ? read_open(offset) : kAllOnes;
}

std::uint32_t CoreWindow::read_open(std::uint32_t offset) const {
  unsigned index = 0;
  switch (offset) {
    case abi::CoreControl::kOffset:
      return control_;
    case abi::CoreStatus::kOffset:
      return status_;
    case abi::DataMainBase::kOffset:
      return data_main_base_;
    case abi::DataMainDoorbell::kOffset:
      return doorbell_;
    case abi::PmuControl::kOffset:
      return pmu_control_;
    case abi::Cond::kOffset:
      return cond_;
    case abi::PmuTotal::kOffset:
    case abi::PmuTotal::kOffset + 4: {
      const bool on = pmu_control_ == abi::PmuControl::kEnable;
      const std::uint64_t total = clocks((on ? sim_now() : stopped_at_) - began_at_);
      return static_cast<std::uint32_t>(offset == abi::PmuTotal::kOffset ? total : total >> 32);
    }
    default:
      break;
  }
  if (in_row<abi::PmuCounter0>(offset, abi::PmuCounter0::kStride, kCounters, index)) {
    return counter(index);
  }
  if (in_row<abi::PmuCounter0Index>(offset, abi::PmuCounter0Index::kStride, kCounters, index)) {
    return events_[index];
  }
  return kAllOnes;
}

bool CoreWindow::write(std::uint32_t offset, std::uint32_t value) {
  if (offset == abi::FastPathEnable::kOffset) {
    fast_path_ = value;
    return false;
  }
  if (!open()) return false;
  unsigned index = 0;
  if (in_row<abi::PmuCounter0Index>(offset, abi::PmuCounter0Index::kStride, kCounters, index)) {
    events_[index] = value;
  } else if (offset == abi::CoreControl::kOffset) {
    control_ = value;
  } else if (offset == abi::PmuControl::kOffset) {
    control_pmu(value);
  } else if (offset == abi::DataMainBase::kOffset || offset == abi::DataMainDoorbell::kOffset) {
    auto& word = offset == abi::DataMainBase::kOffset ? data_main_base_ : doorbell_;
    const bool changed = word != value;
    word = value;
    return changed;
  }
  return false;
}

void CoreWindow::control_pmu(std::uint32_t value) {
  const bool was_on = pmu_control_ == abi::PmuControl::kEnable;
  const bool on = value == abi::PmuControl::kEnable;
  pmu_control_ = value;
  if (on && !was_on) {
    began_ = statistics_;
    began_at_ = sim_now();
  } else if (was_on && !on) {
    stopped_ = statistics_;
    stopped_at_ = sim_now();
  }
}

void CoreWindow::reset() {
  control_ = status_ = fast_path_ = cond_ = data_main_base_ = doorbell_ = pmu_control_ = 0;
  events_ = {};
  began_ = stopped_ = {};
  began_at_ = stopped_at_ = 0;
}

void CoreWindow::launched() {
  data_main_base_ = doorbell_ = cond_ = 0;
  status_ = abi::CoreStatus{}.set<abi::CoreStatus::Running>(1).raw;
}

void CoreWindow::ended(abi::FaultCode fault) {
  status_ =
      abi::CoreStatus{}.set<abi::CoreStatus::Exception>(static_cast<std::uint32_t>(fault)).raw;
}

}  // namespace npu::model
