// SPDX-License-Identifier: Apache-2.0
// Numbers of a model by the seed, on the host and in device memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "npu/base/result.hpp"
#include "workloads/transformer/weight_list.hpp"

namespace npu::workloads::transformer {

// All of a model on the host, as the card's type has them, and tables of sines and cosines.
struct HostModel {
  Numbers embedding, head, norm, cos, sin;
  std::vector<HostLayer> layers;
};
// By the seed.
HostModel random_model(const Model& model, DataType type, std::uint64_t layers,
                       std::uint64_t positions, std::uint64_t seed);

// Experts of rows, `chosen` different ones each, all of them equally likely.
std::vector<std::uint32_t> random_choices(const Experts& experts, std::uint64_t rows,
                                          std::uint64_t seed);

// What the operators that read a weight call its layout, as a matrix of inputs x outputs. In
// fractals a linear layer's weights of outputs x inputs are nZ, as after a cast to FRACTAL_NZ;
// serving systems turn those of experts to inputs x outputs first, zN. Else they lie in rows,
// ColumnMajor.
std::string_view layout_of(const Weight& weight, bool fractals);
// Elements that it takes on the card, with the padding of fractals.
std::uint64_t stored_elements(const Weight& weight, DataType type, bool fractals);

struct ModelMemory;
using WriteNumbers = std::function<Status(std::uint64_t to, DataType type, const Numbers& from)>;
// All of it into device memory, as the operators read it. Errors: those of `write`.
Status write_model(const HostModel& host, const Model& model, DataType type,
                   const ModelMemory& memory, const WriteNumbers& write);

}  // namespace npu::workloads::transformer
