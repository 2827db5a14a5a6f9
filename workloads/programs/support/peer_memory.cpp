// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/peer_memory.hpp"

#include <algorithm>

#include "npu/base/checked.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {
namespace {

constexpr Bytes kWindow = 64_KiB;

}  // namespace

Result<std::unique_ptr<PeerMemory>> PeerMemory::create(Context& context, driver::AddressSpace& near,
                                                       std::uint32_t card, Bytes size) {
  std::unique_ptr<PeerMemory> memory(
      new PeerMemory(context, near, *checked_align_up(size, driver::kPageSize)));
  if (auto ok = memory->make(card); !ok) return forward_error(ok);
  return memory;
}

Status PeerMemory::make(std::uint32_t card) {
  auto device = driver::Device::open_index(context_.platform, card, driver::DeviceOptions{});
  if (!device) return forward_error(device);
  device_ = std::move(*device);
  const auto stream = device_->create_stream();
  if (!stream) return forward_error(stream);
  stream_ = *stream;
  auto& far = device_->address_space();
  const auto owned = far.create_memory(size_);
  if (!owned) return forward_error(owned);
  owned_ = *owned;
  if (auto ok = map(far, owned_, there_); !ok) return ok;
  const auto borrowed = near_.import_memory(far, owned_);
  if (!borrowed) return forward_error(borrowed);
  borrowed_ = *borrowed;
  return map(near_, borrowed_, here_);
}

Status PeerMemory::map(driver::AddressSpace& space, driver::MemoryHandle memory,
                       driver::DeviceAddress& at) {
  const auto reserved = space.reserve(size_);
  if (!reserved) return forward_error(reserved);
  at = *reserved;
  if (auto ok = space.map(at, size_, memory); !ok) return ok;
  return space.set_access(at, size_, driver::Access::kReadWrite);
}

// An error here would tell nothing new: nothing uses the memory any more, or a card is lost.
PeerMemory::~PeerMemory() {
  const auto unmap = [&](driver::AddressSpace& space, driver::DeviceAddress at) {
    if (at.value == 0) return;
    static_cast<void>(space.unmap(at, size_));
    static_cast<void>(space.release(at));
  };
  unmap(near_, here_);
  static_cast<void>(near_.release_memory(borrowed_));
  if (device_ == nullptr) return;
  auto& far = device_->address_space();
  unmap(far, there_);
  static_cast<void>(far.release_memory(owned_));
  static_cast<void>(device_->shutdown());
}

Status PeerMemory::write(ConstByteSpan bytes) {
  auto window = device_->allocate_host(kWindow);
  if (!window) return forward_error(window);
  for (Bytes done = 0; done < bytes.size; done += kWindow) {
    const Bytes length = std::min(kWindow, bytes.size - done);
    std::copy_n(bytes.data + done, length, (*window)->cpu().data);
    const auto command =
        driver::DmaCommand::host_to_device((*window)->bus(), there_ + done, length);
    auto ok = device_->copy(stream_, command, driver::WaitPolicy::kPolling, deadline_of(context_));
    if (!ok) return ok;
  }
  return {};
}

}  // namespace npu::workloads
