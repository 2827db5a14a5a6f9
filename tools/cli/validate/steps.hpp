// SPDX-License-Identifier: Apache-2.0
// A ladder: rows of one kernel and shape, one optimisation step after another. Of two neighbouring
// steps npusim should name the quicker one.
#pragma once

#include <vector>

namespace npu::validate {

struct Compared;

struct Step {
  const Compared* before = nullptr;
  const Compared* after = nullptr;  // the next row of the same kernel

  // npusim runs the same for both: it does not know what differs.
  bool same_run() const;
  // The later row is quicker in both, or in neither. Equal predictions name none.
  bool right() const;
};

// Neighbours in the order of the rows: of one file, part, operator, shape, types, metric and state
// of the L2. Left out are two rows whose values are within the noise of measuring, 9 % below 5 us
// and 2 % else: they name no quicker one.
std::vector<Step> steps_of(const std::vector<Compared>& rows);

}  // namespace npu::validate
