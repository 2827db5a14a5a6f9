// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/ecc.hpp"

#include <algorithm>

namespace npu::model::hbm {

bool Ecc::inject(std::uint64_t address, unsigned bits) {
  if (address >= installed_ || bits < kCorrectable || bits > kUncorrectable) return false;
  auto& flip = flipped_[burst_of(address)];
  flip.bits = std::min(flip.bits + bits, kUncorrectable);
  return true;
}

bool Ecc::read(std::uint64_t address, Bytes length) {
  bool spoilt = false;
  auto at = flipped_.lower_bound(burst_of(address));
  while (at != flipped_.end() && at->first < address + length) {
    auto& [burst, flip] = *at;
    if (!flip.told && listener_ != nullptr) listener_->memory_error(burst, flip.bits);
    flip.told = true;
    const bool corrected = flip.bits == kCorrectable;
    spoilt = spoilt || !corrected;
    at = corrected ? flipped_.erase(at) : std::next(at);
  }
  return spoilt;
}

void Ecc::written(std::uint64_t address, Bytes length) {
  const std::uint64_t first = burst_of(address + burst_ - 1);
  const std::uint64_t end = burst_of(address + length);
  if (first < end) flipped_.erase(flipped_.lower_bound(first), flipped_.lower_bound(end));
}

bool Ecc::meets(bool write, const Extents& request) {
  bool spoilt = false;
  for (unsigned row = 0; row < request.rows; ++row) {
    const std::uint64_t at = request.address + row * request.pitch;
    if (write) {
      written(at, request.piece);
    } else {
      spoilt = read(at, request.piece) || spoilt;
    }
  }
  return spoilt;
}

}  // namespace npu::model::hbm
