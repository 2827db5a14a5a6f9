// SPDX-License-Identifier: Apache-2.0
// Where windows of convolutions and pools lie: for each element of the result and each place of the
// window the element of the source, in a tensor whose channels are behind its axes.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/network/graph.hpp"

namespace npu::network {

// Of a node, by axis. Padding is before and behind.
struct Window {
  std::vector<std::int64_t> kernel, strides, dilations, before, behind;
  std::vector<std::int64_t> result;  // sides

  std::size_t axes() const { return kernel.size(); }
  std::int64_t places() const;  // of the window
  std::int64_t result_elements() const;
};

// Of a pool or a convolution of a source of these sides. False: the attributes do not fit them.
bool window_of(const Node& node, const std::vector<std::int64_t>& kernel,
               const std::vector<std::int64_t>& source, Window& window);
// The same of a transposed convolution.
bool transposed_window_of(const Node& node, const std::vector<std::int64_t>& kernel,
                          const std::vector<std::int64_t>& source, Window& window);

// For each element of the result, for each place of the window: the element of the source; -1: it
// lies in the padding.
std::vector<std::int64_t> sources_of(const Window& window, const std::vector<std::int64_t>& source);
// Of a transposed convolution: -1 also where no element of the source contributes.
std::vector<std::int64_t> transposed_sources_of(const Window& window,
                                                const std::vector<std::int64_t>& source);

}  // namespace npu::network
