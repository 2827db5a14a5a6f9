// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/sweep_reader.hpp"

#include <algorithm>

#include "npu/base/checked.hpp"
#include "npu/base/shortened.hpp"
#include "tools/cli/sweep/value_range.hpp"
#include "workloads/framework/parameter_text.hpp"
#include "workloads/task_graph/node_reader.hpp"

namespace npu::sweep {
namespace {

using model::YamlNode;

// A name that is a folder's too.
bool is_sweep_name(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  const std::string first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  return !name.empty() && name.size() <= kLongest &&
         first.find(name.front()) != std::string::npos &&
         name.find_first_not_of(first + "_-.") == std::string::npos;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

class SweepReader {
 public:
  explicit SweepReader(const std::string& file) { spec_.file = file; }

  model::ConfigResult<SweepSpec> run(const YamlNode& root) {
    if (reader_.check_section(root, "",
                              {"schema", "name", "workload", "configuration", "grid", "list",
                               "seeds", "metrics", "objectives"},
                              {"schema", "name", "workload", "configuration"})) {
      read(root);
    }
    if (!reader_.mistake()) check_size(root);
    if (reader_.mistake()) return tl::unexpected(*reader_.mistake());
    return std::move(spec_);
  }

 private:
  void read(const YamlNode& root) {
    const auto given = [&](const char* key, auto read_it) {
      if (const auto* entry = root.find(key)) read_it(entry->value);
    };
    given("schema", [&](const YamlNode& node) {
      if (reader_.text(node, "schema") != kSweepSchema) {
        reader_.refuse(node.place, "schema", "", describe(node), kSweepSchema);
      }
    });
    given("name", [&](const YamlNode& node) {
      spec_.name = reader_.text(node, "name");
      if (!is_sweep_name(spec_.name)) {
        reader_.refuse(node.place, "name", "", describe(node),
                       "1..64 letters, digits, '_', '-' and '.', first a letter or digit");
      }
    });
    given("workload", [&](const YamlNode& node) { spec_.workload = scalar(node, "workload"); });
    given("configuration",
          [&](const YamlNode& node) { spec_.configurations = one_or_more(node, "configuration"); });
    given("grid", [&](const YamlNode& node) { read_grid(node); });
    given("list", [&](const YamlNode& node) { read_list(node); });
    given("seeds", [&](const YamlNode& node) { read_seeds(node); });
    given("metrics", [&](const YamlNode& node) { read_metrics(node); });
    given("objectives", [&](const YamlNode& node) { read_objectives(node); });
    if (spec_.seeds.empty()) spec_.seeds = {{"1", root.place}};
  }

  PlacedText scalar(const YamlNode& node, const std::string& key) {
    if (node.kind != YamlNode::Kind::kScalar || (node.text.empty() && !node.quoted)) {
      reader_.refuse(node.place, key, "", describe(node), "a single value");
    } else if (std::any_of(node.text.begin(), node.text.end(), is_control)) {
      reader_.refuse(node.place, key, "", describe(node), "text without control characters");
    }
    return {node.text, node.place};
  }

  std::vector<PlacedText> one_or_more(const YamlNode& node, const std::string& key) {
    if (node.kind != YamlNode::Kind::kSequence) return {scalar(node, key)};
    std::vector<PlacedText> values;
    for (const auto& item : node.items) values.push_back(scalar(item, key));
    if (values.empty()) reader_.refuse(node.place, key, "", "an empty list", "a value or more");
    return values;
  }

  // A value, a list of values, or a range.
  std::vector<PlacedText> values(const YamlNode& node, const std::string& key) {
    if (node.kind == YamlNode::Kind::kNull) {
      reader_.refuse(node.place, key, "", describe(node),
                     "a value, a list of values, or {from, to, step} or {from, to, factor}");
      return {};
    }
    if (node.kind != YamlNode::Kind::kMap) return one_or_more(node, key);
    if (!reader_.check_section(node, key, {"from", "to", "step", "factor"}, {"from", "to"})) {
      return {};
    }
    ValueRange range;
    for (const auto& [name, text] :
         {std::pair{"from", &range.from}, std::pair{"to", &range.to},
          std::pair{"step", &range.step}, std::pair{"factor", &range.factor}}) {
      if (const auto* entry = node.find(name)) *text = scalar(entry->value, key + "." + name).text;
    }
    if (range.step.empty() == range.factor.empty()) {
      reader_.refuse(node.place, key, "a range has either a step or a factor");
    }
    if (reader_.mistake()) return {};
    const auto found = values_of(range);
    if (!found) {
      const std::string part = found.error().substr(0, found.error().find(':'));
      reader_.refuse(node.find(part)->value.place, key, found.error());
      return {};
    }
    std::vector<PlacedText> placed;
    for (const auto& text : *found) placed.push_back({text, node.place});
    return placed;
  }

  // Keys of a section, each there once.
  bool check_keys(const YamlNode& node, const std::string& key) {
    if (node.kind != YamlNode::Kind::kMap) {
      reader_.refuse(node.place, key, "", describe(node), "a section of keys and values");
      return false;
    }
    if (node.entries.empty())
      reader_.refuse(node.place, key, "", "an empty section", "a key or more");
    for (const auto& entry : node.entries) {
      const auto* first = node.find(entry.key);
      if (first == &entry) continue;
      reader_.refuse(entry.place, key,
                     "duplicate key '" + shortened(entry.key) + "', first on line " +
                         std::to_string(first->place.line));
    }
    return true;
  }

  void read_grid(const YamlNode& node) {
    if (!check_keys(node, "grid")) return;
    for (const auto& entry : node.entries) {
      spec_.grid.push_back({{entry.key, entry.place}, values(entry.value, "grid." + entry.key)});
    }
  }

  void read_list(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kSequence || node.items.empty()) {
      const bool empty = node.kind == YamlNode::Kind::kSequence;
      reader_.refuse(node.place, "list", "", empty ? "an empty list" : describe(node),
                     "a list of sections");
      return;
    }
    for (const auto& item : node.items) {
      if (!check_keys(item, "list")) return;
      spec_.list.push_back(list_entry(item, node.items.front()));
    }
  }

  // The first entry says which keys there are, and in which order.
  std::vector<Assignment> list_entry(const YamlNode& item, const YamlNode& first) {
    std::vector<Assignment> made;
    for (const auto& entry : item.entries) {
      if (first.find(entry.key) == nullptr) {
        reader_.refuse(
            entry.place, "list",
            "key '" + shortened(entry.key) + "' is not in the first entry: all have the same");
      }
    }
    for (const auto& wanted : first.entries) {
      const auto* entry = item.find(wanted.key);
      if (entry == nullptr) {
        reader_.refuse(item.place, "list", "missing key '" + shortened(wanted.key) + "'");
        continue;
      }
      const auto value = scalar(entry->value, "list." + entry->key);
      made.push_back({{entry->key, entry->place}, value});
    }
    return made;
  }

  void read_seeds(const YamlNode& node) {
    spec_.seeds = values(node, "seeds");
    for (auto& seed : spec_.seeds) {
      const auto number = workloads::parse_integer(seed.text);
      if (!number) {
        reader_.refuse(seed.place, "seeds", "", "'" + seed.text + "'",
                       "0.." + std::to_string(UINT64_MAX));
        continue;
      }
      seed.text = std::to_string(*number);
    }
  }

  // Patterns, or names for what fits a pattern.
  void read_metrics(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kMap) {
      for (auto& pattern : one_or_more(node, "metrics")) spec_.metrics.push_back({"", pattern});
    } else if (check_keys(node, "metrics")) {
      for (const auto& entry : node.entries) {
        spec_.metrics.push_back({entry.key, scalar(entry.value, "metrics." + entry.key)});
      }
    }
    for (const auto& [name, pattern] : spec_.metrics) {
      if (!pattern.text.empty() || reader_.mistake()) continue;
      reader_.refuse(pattern.place, "metrics", "", "''", "a pattern of names of metrics");
    }
  }

  void read_objectives(const YamlNode& node) {
    if (!check_keys(node, "objectives")) return;
    for (const auto& entry : node.entries) {
      const auto goal = scalar(entry.value, "objectives." + entry.key).text;
      if (goal != "min" && goal != "max") {
        reader_.refuse(entry.value.place, "objectives." + entry.key, "", describe(entry.value),
                       "min, max");
      }
      spec_.objectives.push_back(
          {{entry.key, entry.place}, goal == "max" ? Goal::kMaximum : Goal::kMinimum});
    }
  }

  void check_size(const YamlNode& root) {
    std::size_t points = spec_.configurations.size() * spec_.seeds.size();
    points *= std::max<std::size_t>(spec_.list.size(), 1);
    for (const auto& axis : spec_.grid) {
      const auto more = checked_mul(points, axis.values.size());
      points = more ? *more : SIZE_MAX;
    }
    if (points <= kMostPoints) return;
    const auto* grid = root.find("grid");
    reader_.refuse(
        grid != nullptr ? grid->place : root.place, "", "",
        points == SIZE_MAX ? "points without number" : std::to_string(points) + " points",
        std::to_string(kMostPoints) + " at most");
  }

  workloads::NodeReader reader_;
  SweepSpec spec_;
};

}  // namespace

model::ConfigResult<SweepSpec> parse_sweep(const std::string& text, const std::string& file) {
  const auto root = model::parse_yaml(text, file);
  if (!root) return tl::unexpected(root.error());
  return SweepReader(file).run(*root);
}

model::ConfigResult<SweepSpec> read_sweep_file(const std::string& path) {
  const auto root = model::read_yaml_file(path);
  if (!root) return tl::unexpected(root.error());
  return SweepReader(path).run(*root);
}

}  // namespace npu::sweep
