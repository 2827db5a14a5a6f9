// SPDX-License-Identifier: Apache-2.0
// A vector function as it is put together: tensors and the steps between them, in order. What does
// not change from tile to tile is made once.
#pragma once

#include <array>

#include "kernels/device/common/rows.hpp"
#include "npu/platform/vector_function.hpp"

namespace npu::kernels {

using platform::FunctionRows;
using platform::FunctionStep;
using platform::FunctionTensor;

// At most so many steps, loads and stores.
template <unsigned kSteps, unsigned kLoads = 5, unsigned kStores = 2>
class FunctionBuilder {
 public:
  void load(std::uint8_t reg, std::uint32_t offset, DataType type,
            FunctionRows rows = FunctionRows::kOwn, std::uint32_t pitch = 0) {
    loads_[loaded_++] = {offset, pitch, type, rows, reg};
  }
  void store(std::uint8_t reg, std::uint32_t offset, DataType type,
             FunctionRows rows = FunctionRows::kOwn, std::uint32_t pitch = 0) {
    stores_[stored_++] = {offset, pitch, type, rows, reg};
  }
  // Others at the next issue(), with the same steps.
  void drop_tensors() { loaded_ = stored_ = 0; }

  void step(const FunctionStep& step) { steps_[made_++] = step; }
  // to = a op b, op(a) or a op scalar, in fp32
  void op(VectorOp op, std::uint8_t to, std::uint8_t a, std::uint8_t b = 0, float scalar = 0) {
    FunctionStep made;
    made.op = op;
    made.to = to;
    made.a = a;
    made.b = b;
    made.scalar = scalar;
    step(made);
  }
  // The register with the value as `to_type`: `a` itself if it is that already, `to` otherwise.
  std::uint8_t cast(std::uint8_t to, DataType to_type, std::uint8_t a, DataType type) {
    if (type == to_type) return a;
    FunctionStep made;
    made.op = VectorOp::kCast;
    made.type = type;
    made.to_type = to_type;
    made.to = to;
    made.a = a;
    step(made);
    return to;
  }

  void issue(AicorePort& port, std::uint32_t rows, std::uint32_t count,
             bool by_columns = false) const {
    platform::VectorFunction function;
    function.by_columns = by_columns;
    function.loads = loads_.data();
    function.steps = steps_.data();
    function.stores = stores_.data();
    function.load_count = loaded_;
    function.step_count = made_;
    function.store_count = stored_;
    function.rows = rows;
    function.count = count;
    port.issue(function);
  }

 private:
  std::array<FunctionTensor, kLoads> loads_;
  std::array<FunctionTensor, kStores> stores_;
  std::array<FunctionStep, kSteps> steps_;
  std::uint32_t loaded_ = 0, stored_ = 0, made_ = 0;
};

}  // namespace npu::kernels
