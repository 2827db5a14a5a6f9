// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/arithmetic/vector_unit.hpp"

#include "model/aicore/arithmetic/vector_bits.hpp"
#include "model/aicore/vector_operators.hpp"
#include "model/aicore/vector_shape.hpp"

namespace npu::model::arithmetic {

void execute(const platform::Vector& vector, unsigned char* ub) {
  const VectorShape shape = shape_of(vector);
  const auto pitch = [](std::uint32_t given, Bytes dense) { return given != 0 ? given : dense; };
  const Bytes to_pitch = pitch(vector.to_pitch, shape.to_row);
  const Bytes a_pitch = pitch(vector.a_pitch, shape.a_row);
  const Bytes b_pitch = pitch(vector.b_pitch, shape.b_row);
  const Bytes mask_pitch = pitch(vector.mask_pitch, shape.mask_row);
  const VectorOperator& op = operator_of(vector.op);
  if (op.result == VectorResult::kTransposed) {
    return transpose(vector, ub + vector.to, to_pitch, ub + vector.a, a_pitch);
  }
  for (std::uint32_t i = 0; i < vector.rows; ++i) {
    op.row(vector, op.second,
           {ub + vector.to + i * to_pitch, ub + vector.a + i * a_pitch, ub + vector.b + i * b_pitch,
            ub + vector.mask + i * mask_pitch});
  }
}

}  // namespace npu::model::arithmetic
