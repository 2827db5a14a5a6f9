// SPDX-License-Identifier: Apache-2.0
// Copies of tensors (driver::RunOptions::dump_tensors) in two files: PATH says what lies where in
// PATH.bin (docs/guide/kernels-and-graphs.md).
#pragma once

#include <string>
#include <vector>

#include "npu/driver/device_context.hpp"
#include "workloads/task_graph/graph_builder.hpp"

namespace npu::workloads {

inline constexpr const char* kTensorDumpSchema = "npusim.tensors/1";

// That both files can be written; nothing is left behind. kInvalidArgument with one line, kIo.
Status check_tensor_dump(const std::string& path);

// `names` of tasks; the copies are of tiles of `tensors`.
Status write_tensor_dump(const std::string& path, const std::vector<driver::TensorCopy>& copies,
                         const std::vector<std::string>& names, const std::vector<Tensor>& tensors);

}  // namespace npu::workloads
