// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/graph_reader.hpp"

#include <algorithm>

#include "npu/base/shortened.hpp"
#include "workloads/framework/parameter_text.hpp"
#include "workloads/framework/suggestion.hpp"
#include "workloads/programs/support/elements.hpp"
#include "workloads/task_graph/task_reader.hpp"

namespace npu::workloads {
namespace {

class GraphReader {
 public:
  GraphReader(const std::string& file, const std::string& overrides) : overrides_(overrides) {
    spec_.file = file;
  }

  model::ConfigResult<GraphSpec> run(const YamlNode& root) {
    if (reader_.check_section(root, "",
                              {"schema", "about", "parameters", "tensors", "tasks", "check"},
                              {"schema", "about", "tasks"})) {
      read(root);
    }
    if (reader_.mistake()) return tl::unexpected(*reader_.mistake());
    return std::move(spec_);
  }

 private:
  void read(const YamlNode& root) {
    if (const auto* schema = root.find("schema")) {
      if (reader_.text(schema->value, "schema") != kGraphSchema) {
        reader_.refuse(schema->value.place, "schema", "", describe(schema->value), kGraphSchema);
      }
    }
    if (const auto* about = root.find("about")) spec_.about = reader_.text(about->value, "about");
    if (const auto* parameters = root.find("parameters")) read_parameters(parameters->value);
    override_parameters();
    if (const auto* tensors = root.find("tensors")) read_tensors(tensors->value);
    if (const auto* tasks = root.find("tasks")) {
      spec_.tasks = TaskReader(reader_, tensor_names_).list(tasks->value);
    }
    if (const auto* check = root.find("check")) read_check(check->value);
  }

  void read_parameters(const YamlNode& node) {
    if (!reader_.check_names(node, "parameters")) return;
    for (const auto& entry : node.entries) {
      if (entry.key == "row" || entry.key == "column") {
        reader_.refuse(entry.place, "parameters", "is what elements are told by", entry.key);
      }
      // May use the parameters before it, which may have been set from outside.
      const auto value = reader_.expression(entry.value, "parameters." + entry.key);
      spec_.values.push_back(parameter_value(entry.key, value));
      spec_.parameters.push_back(entry.key);
      reader_.names.push_back(entry.key);
    }
  }

  std::int64_t parameter_value(const std::string& name, const PlacedExpression& value) {
    for (const auto& assignment : split_list(overrides_)) {
      const std::size_t equals = assignment.find('=');
      if (equals == std::string::npos || assignment.substr(0, equals) != name) continue;
      const auto number = Expression::parse(assignment.substr(equals + 1), {});
      if (const auto result = number ? number->evaluate({}) : tl::unexpected(number.error())) {
        return *result;
      }
    }
    const auto result = value.expression.evaluate(spec_.values);
    if (result) return *result;
    reader_.refuse(value.place, "parameters." + name, result.error().problem);
    return 0;
  }

  // That every override is of a parameter, once, and a number.
  void override_parameters() {
    if (overrides_.empty()) return;
    std::vector<std::string> set;
    for (const auto& assignment : split_list(overrides_)) {
      const SourcePlace place{"parameters=" + shortened(overrides_), 0, 0};
      const std::string name = assignment.substr(0, assignment.find('='));
      const auto& known = spec_.parameters;
      if (name.size() == assignment.size()) {
        reader_.refuse(place, "", "'" + shortened(assignment) + "' is not of the form name=number");
      } else if (std::find(known.begin(), known.end(), name) == known.end()) {
        reader_.refuse(place, "",
                       "the graph has no parameter '" + shortened(name) + "'" +
                           (known.empty() ? "" : suggestion(name, known)));
      } else if (std::find(set.begin(), set.end(), name) != set.end()) {
        reader_.refuse(place, "", "'" + name + "' is set twice");
      } else {
        const auto value = Expression::parse(assignment.substr(name.size() + 1), {});
        if (!value || !value->evaluate({})) {
          reader_.refuse(place, "",
                         "'" + shortened(assignment) + "' is not of the form name=number");
        }
      }
      set.push_back(name);
    }
  }

  void read_tensors(const YamlNode& node) {
    if (!reader_.check_names(node, "tensors")) return;
    for (const auto& entry : node.entries) {
      spec_.tensors.push_back(tensor(entry));
      tensor_names_.push_back(entry.key);
    }
  }

  TensorSpec tensor(const YamlNode::Entry& entry) {
    const YamlNode& node = entry.value;
    const std::string key = "tensors." + entry.key;
    TensorSpec made;
    made.name = entry.key;
    made.place = entry.place;
    if (!reader_.check_section(node, key, {"type", "rows", "columns", "tile", "contents"},
                               {"type", "rows", "columns"})) {
      return made;
    }
    if (const auto* type = node.find("type")) {
      static const std::vector<std::string> kTypes = {"fp16", "bf16", "fp32", "int8", "int32"};
      made.type = type_of(kTypes[reader_.known_name(type->value, key + ".type", "type", kTypes)]);
    }
    if (const auto* rows = node.find("rows")) made.rows = reader_.expression(rows->value, key);
    if (const auto* columns = node.find("columns")) {
      made.columns = reader_.expression(columns->value, key);
    }
    if (const auto* tile = node.find("tile")) {
      if (tile->value.kind == YamlNode::Kind::kSequence && tile->value.items.size() == 2) {
        made.tile = {reader_.expression(tile->value.items[0], key + ".tile"),
                     reader_.expression(tile->value.items[1], key + ".tile")};
      } else {
        reader_.refuse(tile->value.place, key + ".tile", "", describe(tile->value),
                       "[rows, columns]");
      }
    }
    if (const auto* given = node.find("contents")) {
      made.contents = contents(given->value, key + ".contents");
    }
    return made;
  }

  Contents contents(const YamlNode& node, const std::string& key) {
    Contents made;
    if (node.kind != YamlNode::Kind::kMap) {
      made.number = reader_.number(node, key);
      return made;
    }
    if (!reader_.check_section(node, key, {"expression", "over"}, {"expression"})) return made;
    if (const auto* expression = node.find("expression")) {
      reader_.names.insert(reader_.names.end(), {"row", "column"});
      made.expression = reader_.expression(expression->value, key);
      reader_.names.resize(reader_.names.size() - 2);
    }
    if (const auto* over = node.find("over")) made.over = reader_.number(over->value, key);
    if (made.over == 0) reader_.refuse(node.place, key, "division by zero");
    return made;
  }

  void read_check(const YamlNode& node) {
    if (!reader_.check_section(node, "check", {"tasks", "edges", "longest_path", "tensors"}, {})) {
      return;
    }
    CheckSpec& check = spec_.check;
    for (const auto& [name, count] :
         {std::pair{"tasks", &check.tasks}, std::pair{"edges", &check.edges},
          std::pair{"longest_path", &check.longest_path}}) {
      if (const auto* entry = node.find(name)) {
        *count = reader_.expression(entry->value, std::string("check.") + name);
      }
    }
    const auto* tensors = node.find("tensors");
    if (tensors == nullptr) return;
    if (tensors->value.kind != YamlNode::Kind::kSequence) {
      reader_.refuse(tensors->value.place, "check.tensors", "", describe(tensors->value), "a list");
      return;
    }
    for (const auto& item : tensors->value.items) check.tensors.push_back(tensor_check(item));
  }

  TensorCheck tensor_check(const YamlNode& node) {
    TensorCheck made;
    made.place = node.place;
    const std::string key = "check.tensors";
    if (!reader_.check_section(node, key, {"tensor", "equals", "formula", "arguments", "tolerance"},
                               {"tensor"})) {
      return made;
    }
    if (const auto* tensor = node.find("tensor")) {
      made.tensor = reader_.known_name(tensor->value, key, "tensor", tensor_names_);
    }
    if (const auto* tolerance = node.find("tolerance")) {
      made.tolerance = reader_.number(tolerance->value, key + ".tolerance");
    }
    const auto *equals = node.find("equals"), *formula = node.find("formula");
    if ((equals == nullptr) == (formula == nullptr)) {
      reader_.refuse(node.place, key, "one of 'equals' and 'formula' is needed");
    } else if (equals != nullptr) {
      made.equals = contents(equals->value, key + ".equals");
    } else {
      read_formula(node, made);
    }
    return made;
  }

  void read_formula(const YamlNode& node, TensorCheck& check) {
    struct Formula {
      std::string name;
      std::vector<std::string> tensors, integers, numbers;
    };
    static const std::vector<Formula> kFormulas = {
        {"matmul", {"a", "b"}, {}, {}},
        {"matmul_relu", {"a", "b"}, {}, {}},
        {"attention", {"queries", "keys", "values"}, {"blocks", "page", "sample"}, {"scale"}}};
    const std::string key = "check.tensors.formula";
    std::vector<std::string> names, keys;
    for (const auto& formula : kFormulas) names.push_back(formula.name);
    const auto& formula =
        kFormulas[reader_.known_name(node.find("formula")->value, key, "formula", names)];
    check.formula = formula.name;
    keys = formula.tensors;
    keys.insert(keys.end(), formula.integers.begin(), formula.integers.end());
    keys.insert(keys.end(), formula.numbers.begin(), formula.numbers.end());
    const auto* arguments = node.find("arguments");
    const YamlNode& section = arguments != nullptr ? arguments->value : node;
    if (!reader_.check_section(section, key, keys, keys)) return;
    for (const auto& name : formula.tensors) {
      if (const auto* entry = section.find(name)) {
        check.tensors[name] = reader_.known_name(entry->value, key, "tensor", tensor_names_);
      }
    }
    for (const auto& name : formula.numbers) {
      if (const auto* entry = section.find(name)) {
        check.numbers[name] = reader_.number(entry->value, key);
      }
    }
    // `page` is of the sequence i and its block j.
    reader_.names.insert(reader_.names.end(), {"i", "j"});
    for (const auto& name : formula.integers) {
      if (const auto* entry = section.find(name)) {
        check.integers[name] = reader_.expression(entry->value, key);
      }
    }
    reader_.names.resize(reader_.names.size() - 2);
  }

  const std::string& overrides_;
  NodeReader reader_;
  GraphSpec spec_;
  std::vector<std::string> tensor_names_;
};

}  // namespace

model::ConfigResult<GraphSpec> parse_graph(const std::string& text, const std::string& file,
                                           const std::string& overrides) {
  const auto root = model::parse_yaml(text, file);
  if (!root) return tl::unexpected(root.error());
  return GraphReader(file, overrides).run(*root);
}

model::ConfigResult<GraphSpec> read_graph_file(const std::string& path,
                                               const std::string& overrides) {
  const auto root = model::read_yaml_file(path);
  if (!root) return tl::unexpected(root.error());
  return GraphReader(path, overrides).run(*root);
}

}  // namespace npu::workloads
