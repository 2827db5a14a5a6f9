// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/argument_pool.hpp"

#include "driver/queue/process_impl.hpp"
#include "driver/support/impl_of.hpp"
#include "driver/support/spin_lock.hpp"

namespace npu::driver {

ArgumentPool::ArgumentPool(ProcessContext& process)
    : process_(process), lock_(impl_of(process).link.platform().tasks().make_mutex()) {}

ArgumentPool::~ArgumentPool() {
  for (const auto& block : blocks_) static_cast<void>(process_.space().free(block.device));
}

// A page of the card's memory, cut into pieces.
Status ArgumentPool::add_block() {
  auto host = process_.allocate_host(kPageSize, platform::DmaDirection::kDeviceReads);
  if (!host) return forward_error(host);
  MemoryOptions options;
  options.counts = false;
  const auto device = process_.space().allocate(kPageSize, options);
  if (!device) return forward_error(device);
  for (Bytes at = kPageSize; at > 0; at -= kPiece) {
    const Bytes begin = at - kPiece;
    free_.push_back(
        {(*host)->cpu().subspan(begin, kPiece), (*host)->bus() + begin, device->address + begin});
  }
  blocks_.push_back({std::move(*host), device->address});
  return {};
}

Status ArgumentPool::prepare() {
  const MutexHolder holder(*lock_);
  return free_.empty() ? add_block() : Status{};
}

Result<ArgumentPool::Piece> ArgumentPool::take() {
  const MutexHolder holder(*lock_);
  if (free_.empty()) {
    if (auto added = add_block(); !added) return forward_error(added);
  }
  const auto piece = free_.back();
  free_.pop_back();
  return piece;
}

void ArgumentPool::give_back(const Piece& piece) {
  const MutexHolder holder(*lock_);
  free_.push_back(piece);
}

}  // namespace npu::driver
