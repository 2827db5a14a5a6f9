// SPDX-License-Identifier: Apache-2.0
// How the cores of a cluster hand a step to each other: the scores, their weights, what these give
// with the values. Through global memory, which is the L2, two steps have places in turn; the
// output so far has one. A coupled core hands it to itself.
#pragma once

#include "kernels/device/attention/work.hpp"
#include "kernels/device/common/handed.hpp"

namespace npu::kernels::attention {

enum class Signal : unsigned { kScores, kWeights, kProducts, kTaken };

template <Pipe From, Pipe To>
struct Handed : HandedOver<From, To> {
  Handed(AicorePort& port, Signal signal)
      : HandedOver<From, To>(port, static_cast<unsigned>(signal)) {}
};

// The type in which scores are handed on and weights are computed: half is computed in half, as
// libraries do, but for scores that stay in the core's buffers.
constexpr DataType score_type(bool local) {
  return kTypeA == DataType::kFp16 && !local ? DataType::kFp16 : DataType::kFp32;
}

class Ring {
 public:
  static constexpr std::uint32_t kPlaces = 2;

  Ring(const Work& w, std::uint32_t block) : w_(w), base_(w.ring + block * w.ring_bytes) {}
  static std::uint64_t bytes_of(const Work& w) {
    const Ring ring(w, 0);
    return ring.end() - w.ring;
  }

  std::uint64_t scores(const Step& step) const { return base_ + place(step) * scores_bytes(); }
  std::uint64_t weights(const Step& step) const {
    return base_ + kPlaces * scores_bytes() + place(step) * weights_bytes();
  }
  std::uint64_t products(const Step& step) const {
    return base_ + kPlaces * (scores_bytes() + weights_bytes()) + place(step) * output_bytes();
  }
  std::uint64_t output() const {
    return base_ + kPlaces * (scores_bytes() + weights_bytes() + output_bytes());
  }

 private:
  static std::uint32_t place(const Step& step) { return step.count % kPlaces; }
  static std::uint64_t whole(std::uint64_t bytes) {
    return aicore::round_up<std::uint64_t>(bytes, 512);
  }
  std::uint64_t elements() const { return std::uint64_t{w_.rows} * w_.chunk; }
  std::uint64_t scores_bytes() const {
    return whole(elements() * platform::bytes_of(score_type(false)));
  }
  std::uint64_t weights_bytes() const { return whole(elements() * kBytes); }
  std::uint64_t output_bytes() const { return whole(std::uint64_t{w_.rows} * w_.head * 4); }
  std::uint64_t end() const { return output() + output_bytes(); }

  const Work& w_;
  const std::uint64_t base_;
};

}  // namespace npu::kernels::attention
