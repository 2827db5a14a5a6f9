// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/onnx_file.hpp"

#include <dlfcn.h>

#include "workloads/network/onnx/reader.hpp"

namespace npu::network {
namespace {

// `name`: of a function of type Read.
template <class Read, class Value>
Result<Value> by_library(const char* name, const std::filesystem::path& file, Value empty) {
  // Found as the libraries are that npusim is linked to. It stays until npusim ends.
  static void* const kLibrary = dlopen(NPU_ONNX_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  const auto read = kLibrary == nullptr ? nullptr : reinterpret_cast<Read*>(dlsym(kLibrary, name));
  if (read == nullptr) return fail(ErrorCode::kNotFound, NPU_ONNX_LIBRARY " cannot be loaded");
  Result<Value> value(std::move(empty));
  read(file, value);
  return value;
}

}  // namespace

Result<Graph> read_model(const std::filesystem::path& file) {
  return by_library<decltype(npu_onnx_read_model)>("npu_onnx_read_model", file, Graph{});
}

Result<Tensor> read_tensor(const std::filesystem::path& file) {
  return by_library<decltype(npu_onnx_read_tensor)>("npu_onnx_read_tensor", file, Tensor{});
}

}  // namespace npu::network
