// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/tensor_copies.hpp"

#include <algorithm>
#include <array>

namespace npu::firmware {

namespace {
constexpr Bytes kPiece = 4096;  // between two signs of life
}

void TensorCopies::take(std::uint32_t task, abi::DumpStage stage) {
  const std::uint64_t began = port_.system_counter();
  const std::uint64_t list =
      port_.load(run_.descriptor(task) + offsetof(abi::TaskDescriptor, first_dump), 8);
  const auto first = static_cast<std::uint32_t>(list),
             count = static_cast<std::uint32_t>(list >> 32);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t entry =
        run_.header().dumps + (std::uint64_t{first} + i) * sizeof(abi::TensorDump);
    abi::TensorDump what;
    port_.read(entry, &what, sizeof what);
    if (what.stage != static_cast<std::uint32_t>(stage)) continue;
    phase_.interrupt(AicpuPhase::kDump, task);
    copy(what);
    port_.store(entry + offsetof(abi::TensorDump, taken), 8, port_.system_counter());
  }
  ticks_ += port_.system_counter() - began;
  phase_.resume();
}

void TensorCopies::copy(const abi::TensorDump& what) {
  std::array<unsigned char, kPiece> bytes;
  for (Bytes done = 0; done < what.bytes; done += kPiece) {
    const Bytes length = std::min(kPiece, what.bytes - done);
    // What cores and DMA wrote may be known here before the old lines are gone.
    port_.invalidate(what.tensor + done, length);
    port_.read(what.tensor + done, bytes.data(), length);
    port_.write(what.copy + done, bytes.data(), length);
    progress_.note_copied();
  }
}

}  // namespace npu::firmware
