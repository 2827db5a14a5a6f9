// SPDX-License-Identifier: Apache-2.0
// Parts of UB of a vector core to which FixPipe brings scores and products: two steps' scores,
// their weights, products of one step or two, the output so far. The same for host and core.
#pragma once

#include "kernels/device/attention/ring.hpp"
#include "kernels/device/attention/row_space.hpp"

namespace npu::kernels::attention {

class LocalBuffers {
 public:
  explicit LocalBuffers(const Work& w)
      : space_(first_half(w.rows, true), w.chunk, DataType::kFp32),
        places_(w.places),
        score_row_(aicore::row_bytes(w.chunk, DataType::kFp32)),
        output_row_(aicore::row_bytes(w.head, DataType::kFp32)) {
    space_.folded_row = aicore::row_bytes(aicore::divide_up(w.chunk, 2U), DataType::kFp32);
    space_.folded = output() + rows() * output_row_;
  }

  const RowSpace& space() const { return space_; }
  std::uint32_t score_row() const { return score_row_; }  // and from row to row of weights
  std::uint32_t output_row() const { return output_row_; }

  // Weights lie where the scores lay.
  std::uint32_t scores(const Step& step) const {
    return space_.end() + step.count % Ring::kPlaces * rows() * score_row_;
  }
  std::uint32_t products(const Step& step) const {
    return first_products() + step.count % places_ * rows() * output_row_;
  }
  std::uint32_t output() const { return first_products() + places_ * rows() * output_row_; }
  std::uint32_t end() const { return space_.folded + rows() * space_.folded_row; }

 private:
  std::uint32_t rows() const { return space_.most_rows; }
  std::uint32_t first_products() const {
    return space_.end() + Ring::kPlaces * rows() * score_row_;
  }

  RowSpace space_;
  std::uint32_t places_;
  std::uint32_t score_row_, output_row_;
};

}  // namespace npu::kernels::attention
