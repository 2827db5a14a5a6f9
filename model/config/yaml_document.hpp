// SPDX-License-Identifier: Apache-2.0
// A YAML document as a tree that remembers where everything stands. Only plain data: anchors,
// aliases, tags and several documents in one file are errors.
#pragma once

#include <string>
#include <vector>

#include "model/config/config_error.hpp"

namespace npu::model {

struct SourcePlace {
  std::string file;
  int line = 0;  // from 1; 0: not in a file
  int column = 0;
};

struct YamlNode {
  enum class Kind { kNull, kScalar, kSequence, kMap };
  struct Entry;

  Kind kind = Kind::kNull;
  SourcePlace place;
  std::string text;     // kScalar
  bool quoted = false;  // kScalar: a quoted number is text
  std::vector<YamlNode> items;
  std::vector<Entry> entries;  // in order, duplicates included

  const Entry* find(const std::string& key) const;  // the first, or null
};

struct YamlNode::Entry {
  std::string key;
  SourcePlace place;
  YamlNode value;
};

// What a message calls it: "a list", "'text'".
std::string describe(const YamlNode& node);

ConfigError error_at(const SourcePlace& place, std::string key, std::string problem);

// `file` names the text in errors.
ConfigResult<YamlNode> parse_yaml(const std::string& text, const std::string& file);
ConfigResult<YamlNode> read_yaml_file(const std::string& path);

}  // namespace npu::model
