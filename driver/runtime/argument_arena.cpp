// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/argument_arena.hpp"

#include <utility>

#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

constexpr Bytes kAlignment = 64;  // abi::LaunchPayload::arguments

}  // namespace

Result<std::optional<ArgumentArena::Place>> ArgumentArena::take(Bytes size) {
  if (!piece_) {
    const auto piece = pool_.take();
    if (!piece) return forward_error(piece);
    piece_ = *piece;
  }
  const Bytes wanted = align_down(size + kAlignment - 1, kAlignment);
  Bytes begin = 0;
  if (!taken_.empty()) {
    const Bytes oldest = taken_.front().begin;
    begin = taken_.back().end;
    const bool wrapped = begin <= oldest;
    if (!wrapped && begin + wanted > ArgumentPool::kPiece) begin = 0;
    const bool behind_all = !wrapped && begin != 0;
    if (!behind_all && begin + wanted > oldest) return std::optional<Place>();
  }
  taken_.push_back({begin, begin + wanted, {}});
  return std::optional<Place>(
      Place{piece_->host.subspan(begin, size), piece_->bus + begin, piece_->device + begin});
}

void ArgumentArena::used(StreamMark launch) {
  taken_.back().mark = std::move(launch);
}

void ArgumentArena::give_back() {
  taken_.pop_back();
}

void ArgumentArena::drop_oldest() {
  taken_.pop_front();
}

void ArgumentArena::release() {
  taken_.clear();
  if (piece_) pool_.give_back(*piece_);
  piece_.reset();
}

}  // namespace npu::driver
