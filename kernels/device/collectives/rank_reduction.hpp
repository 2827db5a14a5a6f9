// SPDX-License-Identifier: Apache-2.0
// A block's part of a reduction over ranks: tiles of all ranks' data in UB at once, reduced in the
// order of the ranks. bf16 is computed in fp32.
#pragma once

#include "kernels/device/collectives/meeting.hpp"
#include "kernels/device/collectives/slices.hpp"
#include "kernels/device/collectives/types.hpp"
#include "kernels/device/common/stages.hpp"

namespace npu::kernels::collectives {

class RankReduction {
 public:
  // `results`: places that each result goes to, one or two.
  RankReduction(AicorePort& port, const abi::VectorCollective& work, const Windows& windows)
      : port_(port),
        work_(work),
        windows_(windows),
        type_(vector_type(work.type)),
        wide_(type_ == DataType::kBf16),
        bytes_(static_cast<std::uint32_t>(platform::bytes_of(type_))),
        elements_(bytes_ == 0 ? 0 : tile_of(port, work.ranks, bytes_, wide_)),
        stages_(port) {}

  // Whether a tile has room for all ranks.
  bool fits() const { return elements_ != 0; }

  // `from`: in the halves. `to`, and `copy` if it is not 0: addresses of the slice's begin.
  void run(std::uint64_t from, std::uint64_t size, std::uint64_t to, std::uint64_t copy) {
    const std::uint64_t step = elements_ * bytes_;
    for (std::uint64_t at = 0; at < size; at += step) {
      const auto tile = static_cast<std::uint32_t>(std::min<std::uint64_t>(step, size - at));
      const unsigned inputs = load(from + at, tile);
      const unsigned result = stages_.begin_result();
      reduce(inputs, result, tile / bytes_);
      stages_.consumed(inputs);
      stages_.computed(result);
      store(result, to + at, tile);
      if (copy != 0) store(result, copy + at, tile);
      stages_.stored(result);
    }
  }

 private:
  static constexpr std::uint32_t kUnit = 256;     // elements
  static constexpr std::uint32_t kWideBytes = 8;  // fp32: the sum and the next rank's data

  static std::uint32_t tile_of(AicorePort& port, unsigned ranks, std::uint32_t bytes, bool wide) {
    const std::uint32_t each = kSets * (ranks * bytes + (wide ? kWideBytes : bytes));
    return static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb)) / each / kUnit * kUnit;
  }
  std::uint32_t input(unsigned set, unsigned rank) const {
    return (set * work_.ranks + rank) * elements_ * bytes_;
  }
  std::uint32_t result(unsigned set) const {
    return input(kSets, 0) + set * elements_ * (wide_ ? kWideBytes : bytes_);
  }

  unsigned load(std::uint64_t at, std::uint32_t tile) {
    const unsigned set = stages_.begin_load();
    for (unsigned step = 0; step < work_.ranks; ++step) {
      const unsigned rank = rank_in_step(port_, work_, step);
      const platform::Local local{LocalBuffer::kUb, input(set, rank)};
      port_.issue(platform::CopyIn{local, windows_.data(rank) + at, 1, tile, 0, tile});
    }
    stages_.loaded(set);
    return set;
  }

  VectorOp operation() const {
    if (work_.reduction == abi::ReduceOperation::kMax) return VectorOp::kMax;
    return work_.reduction == abi::ReduceOperation::kMin ? VectorOp::kMin : VectorOp::kAdd;
  }

  void reduce(unsigned inputs, unsigned set, std::uint32_t count) {
    const std::uint32_t to = result(set), next = to + elements_ * 4;
    Vector vector;
    vector.count = count;
    vector.type = type_;
    vector.to = to;
    vector.a = input(inputs, 0);
    vector.op = wide_ ? VectorOp::kCast : VectorOp::kCopy;
    vector.to_type = wide_ ? DataType::kFp32 : type_;
    port_.issue(vector);
    for (unsigned rank = 1; rank < work_.ranks; ++rank) {
      if (wide_) {
        vector.to = next;
        vector.a = input(inputs, rank);
        port_.issue(vector);
      }
      Vector sum;
      sum.count = count;
      sum.op = operation();
      sum.type = sum.to_type = wide_ ? DataType::kFp32 : type_;
      sum.to = sum.a = to;
      sum.b = wide_ ? next : input(inputs, rank);
      port_.issue(sum);
    }
    if (!wide_) return;
    vector.type = DataType::kFp32;
    vector.to_type = type_;
    vector.to = vector.a = to;
    port_.issue(vector);
  }

  void store(unsigned set, std::uint64_t to, std::uint32_t tile) {
    const platform::Local local{LocalBuffer::kUb, result(set)};
    port_.issue(platform::CopyOut{to, local, 1, tile, 0, tile});
  }

  AicorePort& port_;
  const abi::VectorCollective& work_;
  const Windows& windows_;
  const DataType type_;
  const bool wide_;
  const std::uint32_t bytes_, elements_;
  Stages stages_;
};

}  // namespace npu::kernels::collectives
