// SPDX-License-Identifier: Apache-2.0
// A rank's part by vector cores: what each launch of the kernel is told. The public options'
// checks.
#pragma once

#include "driver/collectives/operation_plan.hpp"
#include "driver/collectives/part_writer.hpp"
#include "npu/abi/vector_collective.hpp"

namespace npu::driver {

Status check_vector(const VectorCollectives& options);

// Turns of an operation with equal counts, each with a half of the windows to itself.
class VectorTurns {
 public:
  VectorTurns(const VectorCollectives& options, const PlanRequest& request, const PlanRank& me,
              const PartWriter::Data& data);

  // What the next turn's launch is told, but its number and timeout; nullopt: none is left.
  std::optional<abi::VectorCollective> next();

 private:
  const PlanRequest& request_;
  const PlanRank& me_;
  const PartWriter::Data& data_;
  const Bytes size_;  // of an item: count elements
  abi::VectorCollective work_;
  Bytes most_ = 0, done_ = 0;
};

}  // namespace npu::driver
