// SPDX-License-Identifier: Apache-2.0
// How the cube core of a mixed block and its vector cores tell each other that something is done:
// raised by pipe `From` of one, awaited by pipe `To` of the other. A coupled core tells itself.
#pragma once

#include "npu/aicore/kernel.hpp"

namespace npu::kernels {

template <platform::Pipe From, platform::Pipe To>
class HandedOver {
 public:
  // `id`: 0 to 3.
  HandedOver(platform::AicorePort& port, unsigned id)
      : port_(port), id_(id), alone_(port.core_type() == abi::CoreType::kCoupled) {}
  void raise() const {
    if (alone_) return port_.set_flag(From, To, kFirstFlag + id_);
    port_.set_cross_flag(From, platform::CrossScope::kCluster, id_);
  }
  void wait() const {
    if (alone_) return port_.wait_flag(From, To, kFirstFlag + id_);
    port_.wait_cross_flag(To, platform::CrossScope::kCluster, id_);
  }

 private:
  static constexpr unsigned kFirstFlag = 4;  // below are those of buffers
  platform::AicorePort& port_;
  const unsigned id_;
  const bool alone_;
};

}  // namespace npu::kernels
