// SPDX-License-Identifier: Apache-2.0
// Reads ONNX files, by the standard's own library.
#pragma once

#include <filesystem>

#include "npu/base/result.hpp"
#include "workloads/network/graph.hpp"

namespace npu::network {

// A model; data that it keeps in files beside it is read, too.
// kNotFound: no such file.
// kInvalidArgument: it is no ONNX model, or has a type of elements that the standard does not name,
// or tensors whose data does not fit their sides.
Result<Graph> read_model(const std::filesystem::path& file);

// A tensor by itself, as the standard's test data has them (.pb). Errors as of read_model().
Result<Tensor> read_tensor(const std::filesystem::path& file);

}  // namespace npu::network
