// SPDX-License-Identifier: Apache-2.0
// libnpuonnx: the part of npusim that is linked to the standard's library. It is loaded when the
// first file is read, because linking it would cost every other run a tenth of its start.
#pragma once

#include <filesystem>

#include "npu/base/result.hpp"
#include "workloads/network/graph.hpp"

#define NPU_ONNX_API extern "C" __attribute__((visibility("default")))

// As read_model() and read_tensor() of workloads/network/onnx_file.hpp.
NPU_ONNX_API void npu_onnx_read_model(const std::filesystem::path& file,
                                      npu::Result<npu::network::Graph>& graph);
NPU_ONNX_API void npu_onnx_read_tensor(const std::filesystem::path& file,
                                       npu::Result<npu::network::Tensor>& tensor);
