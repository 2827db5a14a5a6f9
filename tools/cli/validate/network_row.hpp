// SPDX-License-Identifier: Apache-2.0
// Rows of whole networks (columns model_op and shape_batch_context): kernels of a layer, operations
// of several cards, steps. What a row is follows from its words, never from where it stands.
#pragma once

#include <optional>
#include <string>

#include "tools/cli/validate/operation.hpp"
#include "workloads/transformer/model.hpp"

namespace npu::validate::network {

using Made = tl::expected<Operation, std::string>;
using Model = workloads::transformer::Model;

// What rows of all kinds may say.
struct Facts {
  std::string part;            // "910c", by the column sku
  std::uint64_t dies = 1;      // of all cards of the row
  std::uint64_t divided = 1;   // cards that a model is divided over (TP)
  std::optional<Model> model;  // whole
  std::string type;            // of its tensors
};

// The error: no configuration of the part.
tl::expected<Facts, std::string> facts_of(const Measurement& row);

// The run of a row, or why there is none.
Made operation_of(const Measurement& row);

// By kind; nothing: the row is of another one.
std::optional<Made> kernel(const Measurement& row, const Facts& facts);
std::optional<Made> collective(const Measurement& row, const Facts& facts);
std::optional<Made> experts(const Measurement& row, const Facts& facts);
std::optional<Made> step(const Measurement& row, const Facts& facts);

// The system with so many dies of a part and the keys that make it theirs; nothing: there is none.
struct System {
  std::string name;
  std::vector<std::pair<std::string, std::string>> keys;
};
std::optional<System> system_of(const std::string& part, std::uint64_t dies);

}  // namespace npu::validate::network
