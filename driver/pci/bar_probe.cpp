// SPDX-License-Identifier: Apache-2.0
#include "driver/pci/bar_probe.hpp"

#include <algorithm>

#include "npu/abi/pci.hpp"

namespace npu::driver {

namespace pci = abi::pci;

namespace {

constexpr std::uint16_t kNoAnswer = 0xFFFF;
constexpr std::uint16_t kDecoding = pci::kCommandIo | pci::kCommandMemory;
// Set while the BARs are sized, and clear after any reset.
constexpr std::uint16_t kMark = pci::kCommandIntxDisable;
constexpr std::uint16_t kChanged = kDecoding | kMark;
constexpr Picoseconds kResetTime = 100_ms;  // at most (PCIe 6.6.2)
constexpr Picoseconds kLookAgain = 1_ms;

std::uint16_t command_of(unsigned bits) {
  return static_cast<std::uint16_t>(bits);
}

}  // namespace

Status BarProbe::begin() {
  command_ = config_.read16(bdf_, pci::kCommand);
  if (command_ == kNoAnswer) return no_answer();
  config_.write16(bdf_, pci::kCommand, command_of((command_ & ~kDecoding) | kMark));
  return {};
}

// No address is all ones, in either half.
Result<BarProbe::Register> BarProbe::read(unsigned index) {
  const std::uint32_t offset = pci::kBar0 + 4 * index;
  Register found;
  found.value = config_.read32(bdf_, offset);
  if (found.value == pci::kAllOnes) return no_answer();
  saved_.push_back({offset, found.value});
  config_.write32(bdf_, offset, pci::kAllOnes);
  found.mask = config_.read32(bdf_, offset);
  config_.write32(bdf_, offset, found.value);
  return found;
}

// COMMAND and STATUS are one dword.
Status BarProbe::end() {
  const auto both = config_.read32(bdf_, pci::kCommand);
  const auto command = command_of(both & 0xFFFF);
  status_ = command_of(both >> 16);
  if (command == kNoAnswer || !(command & kMark)) return put_back();
  config_.write16(bdf_, pci::kCommand, command_of((command & ~kChanged) | (command_ & kChanged)));
  return {};
}

bool BarProbe::restored() {
  return std::all_of(saved_.begin(), saved_.end(), [this](const Saved& saved) {
    return config_.read32(bdf_, saved.offset) == saved.value;
  });
}

// COMMAND stays as the reset has left it: decoding is off.
Status BarProbe::put_back() {
  const auto deadline = clock_.now() + kResetTime;
  while (!restored()) {
    const auto now = clock_.now();
    for (const auto& saved : saved_) config_.write32(bdf_, saved.offset, saved.value);
    if (now >= deadline) break;
    clock_.sleep_until(std::min(now + kLookAgain, deadline));
  }
  return fail(ErrorCode::kDeviceLost, to_string(bdf_) + " was reset while its BARs were sized");
}

tl::unexpected<Error> BarProbe::no_answer() const {
  return fail(ErrorCode::kDeviceLost, to_string(bdf_) + " vanished while its BARs were sized");
}

}  // namespace npu::driver
