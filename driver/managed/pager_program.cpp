// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/pager_program.hpp"

#include <cstring>
#include <utility>

#include "npu/base/checked.hpp"
#include "npu/driver/program.hpp"

namespace npu::driver {

Status PagerProgram::load(PageMover& mover, ConstByteSpan object, abi::PagerArguments arguments) {
  const auto image = make_image(abi::ImageKind::kAicpu, object, 0);
  if (!image) return forward_error(image);
  constexpr Bytes kPart = 4096;
  const Bytes behind = align_down(image->size() + kPart - 1, kPart);
  const Bytes slots = behind + kPart;
  const Bytes size = slots + sizeof(abi::PagerSlot) * Bytes{arguments.count};
  {
    const MutexHolder holder(card_memory_.mutex());
    const auto memory = card_memory_.physical().create(size, true, abi::kVmidPhysical);
    if (!memory) return forward_error(memory);
    memory_ = *memory;
    image_ = card_memory_.physical().find(memory_)->address;
  }
  arguments_ = image_ + behind;
  auto frame =
      link_.platform().allocate_dma(link_.bdf(), slots, 4096, platform::DmaDirection::kDeviceReads);
  if (!frame) return forward_error(frame);
  arguments.slots = image_ + slots;
  const auto bytes = (*frame)->cpu();
  std::memcpy(bytes.data, image->data(), image->size());
  std::memcpy(bytes.data + behind, &arguments, sizeof arguments);
  if (auto ok = mover.to_card((*frame)->bus(), LocalAddress{image_}, slots); !ok) return ok;
  return mover.wait();
}

void PagerProgram::unload() {
  if (memory_ == MemoryHandle{}) return;
  const MutexHolder holder(card_memory_.mutex());
  card_memory_.physical().release(std::exchange(memory_, {}), abi::kVmidPhysical);
}

}  // namespace npu::driver
