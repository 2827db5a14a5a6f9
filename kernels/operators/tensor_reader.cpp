// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/tensor_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "npu/base/shortened.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::operators {
namespace {

using model::SourcePlace;
using model::YamlNode;

Status refuse_at(const SourcePlace& at, const std::string& key, const std::string& problem) {
  return fail(ErrorCode::kInvalidArgument,
              model::ConfigError{at.file, at.line, at.column, key, problem, "", "", ""}.message());
}
Status found_at(const YamlNode& node, const std::string& key, const std::string& allowed) {
  const SourcePlace& at = node.place;
  return fail(ErrorCode::kInvalidArgument,
              model::ConfigError{at.file, at.line, at.column, key, "", describe(node), allowed, ""}
                  .message());
}

}  // namespace

Status TensorReader::take(const std::string& key, const YamlNode& value, bool names_alone,
                          OperatorRow& row) {
  const bool is_input = key == "inputs";
  auto& to = is_input ? row.inputs : row.results;
  auto& places = is_input ? inputs_ : results_;
  (is_input ? inputs_place_ : results_place_) = value.place;
  const bool names = names_alone && value.kind == YamlNode::Kind::kSequence;
  if (!names && value.kind != YamlNode::Kind::kMap) {
    return found_at(value, key, "a map from names to shapes");
  }
  for (const auto& item : value.items) to.push_back({item.text, "", "", ""});
  for (const auto& [name, place, tensor] : value.entries) {
    TensorRow read{name, "", "", ""};
    Place where{key + "." + shortened(name), is_input, place, nullptr, nullptr};
    if (tensor.kind == YamlNode::Kind::kMap) {
      if (auto ok = take_map(tensor, where, read); !ok) return ok;
    } else if (tensor.kind == YamlNode::Kind::kScalar) {
      read.shape = tensor.text;
      where.shape = &tensor;
    } else {
      return found_at(tensor, where.key, "a shape, or a map with one");
    }
    to.push_back(std::move(read));
    places.push_back(std::move(where));
  }
  return {};
}

Status TensorReader::take_map(const YamlNode& value, Place& place, TensorRow& to) {
  std::map<std::string, bool> seen;
  for (const auto& [name, at, text] : value.entries) {
    const std::string key = place.key + "." + shortened(name);
    if (!seen.emplace(name, true).second) return refuse_at(at, key, "is there twice");
    if (name != "shape" && name != "dtype" && name != "below") {
      return fail(ErrorCode::kInvalidArgument,
                  model::ConfigError{at.file, at.line, at.column, key, "no such key", "",
                                     "shape, dtype, below", ""}
                      .message());
    }
    if (text.kind != YamlNode::Kind::kScalar) return found_at(text, key, "text");
    if (name == "shape") {
      to.shape = text.text;
      place.shape = &text;
    } else if (name == "below") {
      to.below = text.text;
      place.below = &text;
    } else {
      const auto type = parse_type(text.text);
      if (!type) return refuse_at(text.place, key, type.error().context);
      to.dtype = text.text;
    }
  }
  return {};
}

Status TensorReader::check(const OperatorRow& row) const {
  if (row.inputs.empty() || row.inputs.size() > kTensorInputs) {
    return refuse_at(inputs_place_, "inputs", fmt::format("1 to {} are possible", kTensorInputs));
  }
  if (row.results.empty() || row.results.size() > kTensorResults) {
    return refuse_at(results_place_, "results",
                     fmt::format("1 to {} are possible", kTensorResults));
  }
  std::map<std::string, bool> inputs_by_name;  // or results
  for (const auto* places : {&inputs_, &results_}) {
    const auto& tensors = places == &inputs_ ? row.inputs : row.results;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Place& place = (*places)[i];
      const auto [first, is_new] = inputs_by_name.emplace(tensors[i].name, place.is_input);
      if (!is_new) {
        return refuse_at(
            place.name, place.key,
            first->second == place.is_input ? "is there twice" : "an input has this name");
      }
      if (auto ok = check_tensor(tensors[i], place, row); !ok) return ok;
    }
  }
  return {};
}

Status TensorReader::check_tensor(const TensorRow& tensor, const Place& place,
                                  const OperatorRow& row) {
  if (!is_tensor_name(tensor.name)) {
    return refuse_at(place.name, place.key, "a tensor's name is a C identifier");
  }
  if (place.shape == nullptr) return refuse_at(place.name, place.key + ".shape", "it is missing");
  if (const auto shape = check_numbers(tensor.shape, row); !shape) {
    return refuse_at(place.shape->place, place.key, shape.error().context);
  }
  return place.below == nullptr ? Status{} : check_below(tensor, place, row);
}

// Of a tensor whose type a call chooses normalise() looks at that of the call.
Status TensorReader::check_below(const TensorRow& tensor, const Place& place,
                                 const OperatorRow& row) {
  const auto refuse = [&](const std::string& problem) {
    return refuse_at(place.below->place, place.key + ".below", problem);
  };
  if (!place.is_input) return refuse("results are no indices");
  const auto below = check_numbers(tensor.below, row);
  if (!below) return refuse(below.error().context);
  if (*below != 1) return refuse(fmt::format("{} numbers; one is wanted", *below));
  const auto type = parse_type(tensor.dtype);
  const bool real =
      type ? is_real_type(*type)
           : !row.types.empty() && std::all_of(row.types.begin(), row.types.end(), is_real_type);
  if (!real) return {};
  return refuse(fmt::format("indices are integers; the tensor is {}",
                            type_name(type ? *type : row.types.front())));
}

}  // namespace npu::operators
