// SPDX-License-Identifier: Apache-2.0
// One axis of an image made longer or shorter: which elements each new one is made of (ONNX,
// Resize).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/base/result.hpp"

namespace npu::network {

struct Resampling {
  std::string mode = "nearest";      // or linear, cubic
  std::string place = "half_pixel";  // coordinate_transformation_mode
  std::string nearest = "round_prefer_floor";
  double cubic_a = -0.75;
  bool exclude_outside = false;  // weights outside of the axis are 0, the others grow
};

struct ResampledAxis {
  std::uint64_t from = 0, to = 0;  // elements
  double scale = 1;                // of them
  double begin = 0, end = 1;       // tf_crop_and_resize: of the axis
};

// Weights of the old elements for each new one: to x from, row by row.
struct Resampled {
  std::vector<float> weights;
  std::vector<bool> inside;  // by new element: false: beyond the axis (tf_crop_and_resize)
};

// kUnsupported: a mode that is not among these.
Result<Resampled> resample(const Resampling& how, const ResampledAxis& axis);
// Of "nearest": the old element of each new one. Errors as of resample().
Result<std::vector<std::int64_t>> nearest_of(const Resampling& how, const ResampledAxis& axis);

}  // namespace npu::network
