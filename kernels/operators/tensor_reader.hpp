// SPDX-License-Identifier: Apache-2.0
// The tensors of a description: read, and checked when the whole row is known. What is wrong is
// told with the place of the tensor itself.
#pragma once

#include <string>
#include <vector>

#include "kernels/operators/description.hpp"
#include "model/config/yaml_document.hpp"

namespace npu::operators {

class TensorReader {
 public:
  // Of the key "inputs" or "results": names with a shape or a map, into the row's list of that
  // name. `names_alone`: without shapes, as npusim's own are.
  Status take(const std::string& key, const model::YamlNode& value, bool names_alone,
              OperatorRow& row);
  // Counts, names, shapes and indices of a row that has been read.
  Status check(const OperatorRow& row) const;

 private:
  // Where a tensor stands; null: it has no such key.
  struct Place {
    std::string key;  // "inputs.x"
    bool is_input = false;
    model::SourcePlace name;
    const model::YamlNode* shape = nullptr;
    const model::YamlNode* below = nullptr;
  };

  static Status take_map(const model::YamlNode& value, Place& place, TensorRow& to);
  static Status check_tensor(const TensorRow& tensor, const Place& place, const OperatorRow& row);
  static Status check_below(const TensorRow& tensor, const Place& place, const OperatorRow& row);

  // Of the document's nodes, which live as long as the reading; in the order of both lists.
  std::vector<Place> inputs_, results_;
  model::SourcePlace inputs_place_, results_place_;
};

}  // namespace npu::operators
