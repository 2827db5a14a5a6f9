// SPDX-License-Identifier: Apache-2.0
// A published measurement: a row of a file that `npusim validate` reads.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "npu/base/result.hpp"

namespace npu::validate {

struct Measurement {
  std::string file;
  int line = 0;
  std::string id, sku, op, metric, unit, note;
  std::string cache;  // column l2: "cold", "warm", else it is not stated
  std::string text;   // the value as published
  double value = 0;   // above 0
  std::string shape;  // as published
  // Of each tensor, if the shape is a JSON list; one that is absent has no side.
  std::vector<std::vector<std::uint64_t>> tensors;
  std::map<std::string, std::uint64_t> sides;  // of "m=64 n=k=128 D128": by their names
  std::vector<std::string> types;              // of the tensors, or one for all; "": absent
  nlohmann::json attributes = nlohmann::json::object();
  // Of a file of whole networks, where `op` and `shape` are free text.
  bool network = false;
  std::string cards, source;

  // All elements of a tensor; 0: absent.
  std::uint64_t elements(std::size_t tensor) const;
  bool has(std::size_t tensor) const { return tensor < tensors.size() && !tensors[tensor].empty(); }
};

// Columns id, sku, op, shape, dtype, metric, value, unit; attrs, l2, note or notes may be absent.
// Of whole networks: sku, cards, model_op, shape_batch_context, metric, value, unit; source and
// note may be absent, and the id is "row-" and the line. Attributes that are no JSON object are not
// read. kInvalidArgument begins with file and line: a column that is missing, a value that is no
// number above 0. Errors of reports::load_csv().
Result<std::vector<Measurement>> load_measurements(const std::string& path);

}  // namespace npu::validate
