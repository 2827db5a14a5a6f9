// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/node_reader.hpp"

#include <algorithm>
#include <cstdlib>

#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"
#include "npu/base/text.hpp"

namespace npu::workloads {
namespace {

using model::describe;

bool is_scalar(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kScalar;
}

SourcePlace moved(SourcePlace place, std::size_t columns) {
  place.column += static_cast<int>(columns);
  return place;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

SourcePlace text_place(const YamlNode& node) {
  return moved(node.place, node.quoted ? 1 : 0);
}

void NodeReader::refuse(const SourcePlace& place, const std::string& key,
                        const std::string& problem, const std::string& found,
                        const std::string& allowed, const std::string& suggestion) {
  if (mistake_) return;
  mistake_ = model::error_at(place, key, problem);
  mistake_->found = found;
  mistake_->allowed = allowed;
  mistake_->suggestion = suggestion;
}

bool NodeReader::check_section(const YamlNode& node, const std::string& what,
                               const std::vector<std::string>& known,
                               const std::vector<std::string>& required) {
  if (node.kind != YamlNode::Kind::kMap) {
    refuse(node.place, what, "", describe(node), "a section of " + joined(known));
    return false;
  }
  for (const auto& entry : node.entries) {
    if (!contains(known, entry.key)) {
      const std::string nearest = nearest_name(entry.key, known);
      refuse(entry.place, what, "unknown key '" + shortened(entry.key) + "'", "",
             nearest.empty() ? joined(known) : "", nearest);
    }
    const auto* first = node.find(entry.key);
    if (first != &entry) {
      refuse(entry.place, what,
             "duplicate key '" + shortened(entry.key) + "', first on line " +
                 std::to_string(first->place.line));
    }
  }
  for (const auto& key : required) {
    if (node.find(key) == nullptr) refuse(node.place, what, "missing key '" + key + "'");
  }
  return true;
}

bool NodeReader::check_names(const YamlNode& node, const std::string& what) {
  if (node.kind != YamlNode::Kind::kMap) {
    refuse(node.place, what, "", describe(node), "a section of names");
    return false;
  }
  for (const auto& entry : node.entries) {
    if (!is_identifier(entry.key)) {
      refuse(entry.place, what, "is no name", "'" + entry.key + "'", "letters, digits and _");
    }
    const auto* first = node.find(entry.key);
    if (first != &entry) {
      refuse(
          entry.place, what,
          "duplicate name '" + entry.key + "', first on line " + std::to_string(first->place.line));
    }
  }
  return true;
}

std::string NodeReader::text(const YamlNode& node, const std::string& key) {
  if (is_scalar(node)) return node.text;
  refuse(node.place, key, "", describe(node), "text");
  return {};
}

double NodeReader::number(const YamlNode& node, const std::string& key) {
  if (is_scalar(node) && !node.quoted && !node.text.empty()) {
    constexpr std::string_view kCharacters = "0123456789+-.eE";
    char* end = nullptr;
    const double value = std::strtod(node.text.c_str(), &end);
    const bool plain = node.text.find_first_not_of(kCharacters) == std::string::npos;
    if (plain && *end == '\0' && value >= -1e30 && value <= 1e30) return value;
  }
  refuse(node.place, key, "", describe(node), "a number from -1e30 to 1e30");
  return 0;
}

bool NodeReader::flag(const YamlNode& node, const std::string& key) {
  if (is_scalar(node) && (node.text == "true" || node.text == "false")) return node.text == "true";
  refuse(node.place, key, "", describe(node), "true, false");
  return false;
}

PlacedExpression NodeReader::expression_at(std::string_view text, SourcePlace place,
                                           const std::string& key) {
  auto parsed = Expression::parse(text, names);
  if (!parsed) {
    refuse(moved(place, parsed.error().offset), key, parsed.error().problem);
    return {Expression(), std::move(place)};
  }
  return {std::move(*parsed), std::move(place)};
}

PlacedExpression NodeReader::expression(const YamlNode& node, const std::string& key) {
  if (is_scalar(node)) return expression_at(node.text, text_place(node), key);
  refuse(node.place, key, "", describe(node), "an integer expression");
  return {Expression(), node.place};
}

NameTemplate NodeReader::name_template(const YamlNode& node, const std::string& key) {
  NameTemplate made;
  made.place = text_place(node);
  if (!is_scalar(node) || node.text.empty()) {
    refuse(node.place, key, "", describe(node), "a name; expressions stand in braces");
    return made;
  }
  for (std::size_t at = 0; at < node.text.size(); ++at) {
    const char c = node.text[at];
    if (c == '}') refuse(moved(made.place, at), key, "no '{' before it");
    if (c != '{') {
      made.pieces.back() += c;
      continue;
    }
    const std::size_t end = node.text.find('}', at);
    if (end == std::string::npos) {
      refuse(moved(made.place, at), key, "is never closed");
      return made;
    }
    made.expressions.push_back(expression_at(
        std::string_view(node.text).substr(at + 1, end - at - 1), moved(made.place, at + 1), key));
    made.pieces.emplace_back();
    at = end;
  }
  return made;
}

std::size_t NodeReader::known_name(const YamlNode& node, const std::string& key,
                                   const std::string& what,
                                   const std::vector<std::string>& names_known) {
  const std::string name = text(node, key);
  const auto found = std::find(names_known.begin(), names_known.end(), name);
  if (found != names_known.end()) return static_cast<std::size_t>(found - names_known.begin());
  const std::string nearest = nearest_name(name, names_known);
  refuse(node.place, key, "no " + what + " '" + name + "'", "",
         nearest.empty() ? joined(names_known) : "", nearest);
  return 0;
}

TileReference NodeReader::tile(const YamlNode& node, const std::string& key,
                               const std::vector<std::string>& tensors) {
  TileReference made;
  made.place = text_place(node);
  const std::string whole = text(node, key);
  const std::size_t open = whole.find('[');
  YamlNode name = node;
  name.text = whole.substr(0, open);
  made.tensor = known_name(name, key, "tensor", tensors);
  if (open == std::string::npos) return made;
  if (whole.back() != ']') {
    refuse(moved(made.place, open), key, "is never closed");
    return made;
  }
  // Expressions have parentheses, but neither brackets nor commas.
  for (std::size_t begin = open + 1; begin < whole.size();) {
    const std::size_t end = std::min(whole.find(',', begin), whole.size() - 1);
    made.index.push_back(expression_at(std::string_view(whole).substr(begin, end - begin),
                                       moved(made.place, begin), key));
    begin = end + 1;
  }
  if (made.index.size() > 2) {
    refuse(moved(made.place, open), key, "a tile has a row and, at most, a column");
  }
  return made;
}

std::vector<Loop> NodeReader::loops(const YamlNode& node) {
  std::vector<Loop> made;
  if (!check_names(node, "for")) return made;
  for (const auto& entry : node.entries) {
    const auto& value = entry.value;
    Loop loop;
    loop.variable = entry.key;
    loop.first.place = entry.place;
    if (contains(names, entry.key)) {
      refuse(entry.place, "for", "'" + entry.key + "' is the name of something else already");
    }
    if (value.kind == YamlNode::Kind::kSequence) {
      if (value.items.size() != 2) {
        refuse(value.place, "for", "", std::to_string(value.items.size()) + " values",
               "[first, end]");
        return made;
      }
      loop.first = expression(value.items[0], "for");
      loop.end = expression(value.items[1], "for");
    } else {
      loop.end = expression(value, "for");
    }
    names.push_back(entry.key);
    made.push_back(std::move(loop));
  }
  return made;
}

}  // namespace npu::workloads
