// SPDX-License-Identifier: Apache-2.0
// What a call of an operator costs its host, layer by layer.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::operators {

enum class Layer : std::size_t {
  kWrapper,   // names, types, layouts, shapes
  kOperator,  // macros and parameters
  kJit,       // the kernel's look-up
  kTemplate,  // its host entry: can it, with which tiles, arguments
  kLauncher,  // workspace, arguments to the card, doorbells; the first time the kernel's upload
};
inline constexpr std::size_t kLayers = 5;
inline constexpr std::array<const char*, kLayers> kLayerNames = {"wrapper", "operator", "jit",
                                                                 "template", "launcher"};

struct LayerSpan {
  Layer layer;
  Instant begin, end;
};

// By the platform's clock, from the call to the last doorbell, one behind the other without gaps:
// the layers' sums add up to the total.
struct LayerTimes {
  std::vector<LayerSpan> spans;

  // `now` is not before the last span's end.
  void add(Layer layer, Instant begin, Instant now) {
    if (now != begin) spans.push_back({layer, begin, now});
  }
  Picoseconds of(Layer layer) const {
    Picoseconds sum;
    for (const auto& span : spans) {
      if (span.layer == layer) sum += span.end - span.begin;
    }
    return sum;
  }
  Picoseconds total() const {
    return spans.empty() ? Picoseconds{} : spans.back().end - spans.front().begin;
  }
};

}  // namespace npu::operators
