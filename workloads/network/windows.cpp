// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/windows.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace npu::network {
namespace {

using Integers = std::vector<std::int64_t>;

std::int64_t product_of(const Integers& sides) {
  return std::accumulate(sides.begin(), sides.end(), std::int64_t{1}, std::multiplies<>());
}

// Extent of the window with its dilation.
std::int64_t reach(const Window& window, std::size_t axis) {
  return (window.kernel[axis] - 1) * window.dilations[axis] + 1;
}

bool take_paces(const Node& node, const Integers& kernel, Window& window) {
  const std::size_t axes = kernel.size();
  window.kernel = kernel;
  window.strides = node.attribute("strides", Integers(axes, 1));
  window.dilations = node.attribute("dilations", Integers(axes, 1));
  const auto pads = node.attribute("pads", Integers(2 * axes, 0));
  const auto positive = [](const Integers& all) {
    return std::all_of(all.begin(), all.end(), [](auto each) { return each > 0; });
  };
  const bool sound = window.strides.size() == axes && window.dilations.size() == axes &&
                     pads.size() == 2 * axes && positive(window.strides) &&
                     positive(window.dilations) && positive(kernel) &&
                     std::all_of(pads.begin(), pads.end(), [](auto each) { return each >= 0; });
  if (!sound) return false;
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(axes);
  window.before.assign(pads.begin(), middle);
  window.behind.assign(middle, pads.end());
  return true;
}

// Of the odd one of an odd padding: SAME_UPPER has it behind.
void share(std::int64_t padding, bool upper, std::int64_t& before, std::int64_t& behind) {
  const std::int64_t all = std::max<std::int64_t>(padding, 0);
  before = upper ? all / 2 : all - all / 2;
  behind = all - before;
}

// Calls `each` with the place of every element of `sides`, in order.
void for_each_place(const Integers& sides, const std::function<void(const Integers&)>& each) {
  Integers at(sides.size(), 0);
  for (std::int64_t left = product_of(sides); left > 0; --left) {
    each(at);
    for (std::size_t i = at.size(); i-- > 0;) {
      if (++at[i] < sides[i]) break;
      at[i] = 0;
    }
  }
}

}  // namespace

std::int64_t Window::places() const {
  return product_of(kernel);
}
std::int64_t Window::result_elements() const {
  return product_of(result);
}

bool window_of(const Node& node, const Integers& kernel, const Integers& source, Window& window) {
  if (kernel.size() != source.size() || !take_paces(node, kernel, window)) return false;
  const auto automatic = node.attribute("auto_pad", std::string("NOTSET"));
  const bool ceil = node.attribute("ceil_mode", std::int64_t{0}) != 0;
  window.result.clear();
  for (std::size_t i = 0; i < window.axes(); ++i) {
    const std::int64_t stride = window.strides[i];
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const std::int64_t side = (source[i] + stride - 1) / stride;
      share((side - 1) * stride + reach(window, i) - source[i], automatic == "SAME_UPPER",
            window.before[i], window.behind[i]);
      window.result.push_back(side);
      continue;
    }
    const std::int64_t room = source[i] + window.before[i] + window.behind[i] - reach(window, i);
    if (room < 0) return false;
    std::int64_t side = (ceil ? room + stride - 1 : room) / stride + 1;
    // A window that would begin in the padding behind is none.
    if (ceil && (side - 1) * stride >= source[i] + window.before[i]) --side;
    window.result.push_back(side);
  }
  return true;
}

bool transposed_window_of(const Node& node, const Integers& kernel, const Integers& source,
                          Window& window) {
  if (kernel.size() != source.size() || !take_paces(node, kernel, window)) return false;
  const auto automatic = node.attribute("auto_pad", std::string("NOTSET"));
  const auto added = node.attribute("output_padding", Integers(kernel.size(), 0));
  const auto wanted = node.attribute("output_shape", Integers{});
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (added.size() != kernel.size() || (!wanted.empty() && wanted.size() != kernel.size())) {
    return false;
  }
  window.result.clear();
  for (std::size_t i = 0; i < window.axes(); ++i) {
    const std::int64_t full = window.strides[i] * (source[i] - 1) + added[i] + reach(window, i);
    if (wanted.empty() && !same) {
      window.result.push_back(full - window.before[i] - window.behind[i]);
    } else {
      const std::int64_t side = wanted.empty() ? source[i] * window.strides[i] : wanted[i];
      share(full - side, automatic == "SAME_UPPER", window.before[i], window.behind[i]);
      window.result.push_back(side);
    }
    if (window.result.back() < 0) return false;
  }
  return true;
}

Integers sources_of(const Window& window, const Integers& source) {
  Integers all;
  all.reserve(static_cast<std::size_t>(window.result_elements() * window.places()));
  for_each_place(window.result, [&](const Integers& to) {
    for_each_place(window.kernel, [&](const Integers& k) {
      std::int64_t from = 0;
      bool inside = true;
      for (std::size_t i = 0; i < window.axes(); ++i) {
        const std::int64_t at =
            to[i] * window.strides[i] - window.before[i] + k[i] * window.dilations[i];
        inside = inside && at >= 0 && at < source[i];
        from = from * source[i] + at;
      }
      all.push_back(inside ? from : -1);
    });
  });
  return all;
}

Integers transposed_sources_of(const Window& window, const Integers& source) {
  Integers all;
  all.reserve(static_cast<std::size_t>(window.result_elements() * window.places()));
  for_each_place(window.result, [&](const Integers& to) {
    for_each_place(window.kernel, [&](const Integers& k) {
      std::int64_t from = 0;
      bool inside = true;
      for (std::size_t i = 0; i < window.axes(); ++i) {
        const std::int64_t spread = to[i] + window.before[i] - k[i] * window.dilations[i];
        const std::int64_t at = spread / window.strides[i];
        inside = inside && spread >= 0 && spread % window.strides[i] == 0 && at < source[i];
        from = from * source[i] + at;
      }
      all.push_back(inside ? from : -1);
    });
  });
  return all;
}

}  // namespace npu::network
