// SPDX-License-Identifier: Apache-2.0
// Pieces of a YAML tree as graph files use them. The first mistake is kept, reading goes on with
// harmless values, and whoever asked for the whole looks at the mistake in the end.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workloads/task_graph/graph_spec.hpp"

namespace npu::workloads {

using model::YamlNode;

class NodeReader {
 public:
  // Names that expressions may use, innermost last.
  std::vector<std::string> names;

  void refuse(const SourcePlace& place, const std::string& key, const std::string& problem,
              const std::string& found = "", const std::string& allowed = "",
              const std::string& suggestion = "");
  const std::optional<model::ConfigError>& mistake() const { return mistake_; }

  // `node` is a section whose keys are among `known` and each there once; those of `required` are
  // there. `what` names it in messages. False: it is none.
  bool check_section(const YamlNode& node, const std::string& what,
                     const std::vector<std::string>& known,
                     const std::vector<std::string>& required);
  // Every name of a section is an identifier, once.
  bool check_names(const YamlNode& node, const std::string& what);

  std::string text(const YamlNode& node, const std::string& key);
  double number(const YamlNode& node, const std::string& key);
  bool flag(const YamlNode& node, const std::string& key);
  PlacedExpression expression(const YamlNode& node, const std::string& key);
  NameTemplate name_template(const YamlNode& node, const std::string& key);
  // "c[i, j]": the name before the bracket goes to `find`, which gives the tensor's index.
  TileReference tile(const YamlNode& node, const std::string& key,
                     const std::vector<std::string>& tensors);
  // An index of `names_known` by name.
  std::size_t known_name(const YamlNode& node, const std::string& key, const std::string& what,
                         const std::vector<std::string>& names_known);
  // {i: n} or {i: [first, end]}; the variables are names from here on, until the caller drops them.
  std::vector<Loop> loops(const YamlNode& node);

 private:
  PlacedExpression expression_at(std::string_view text, SourcePlace place, const std::string& key);

  std::optional<model::ConfigError> mistake_;
};

// Where a scalar's text begins.
SourcePlace text_place(const YamlNode& node);

}  // namespace npu::workloads
