// SPDX-License-Identifier: Apache-2.0
// Values from the command line that take the place of those in files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/config/system_config.hpp"
#include "model/config/yaml_document.hpp"

namespace npu::model {

// Where a key is, seen from the whole system and from its own file's table.
struct KeyPath {
  std::string prefix;  // "cards.0." inside a chip, else empty
  std::string local;   // "link.generation"

  std::string full() const { return prefix + local; }
  KeyPath child(const std::string& name) const {
    return {prefix, local.empty() ? name : local + "." + name};
  }
};

class Overrides {
 public:
  static ConfigResult<Overrides> parse(const std::vector<std::string>& arguments);

  // The value given for this key, of this card or of all; null if none. Counts as used.
  const YamlNode* find(const KeyPath& path);
  // What find() gave for this key was understood as `value`.
  void resolve(const KeyPath& path, const std::string& value, bool is_text);
  std::vector<ReplacedKey> resolved() const;
  // Whether any is of one card alone.
  bool of_one_card() const;
  // An error if one of them named no key at all.
  ConfigResult<void> check_all_used() const;

 private:
  struct Value {
    YamlNode node;
    bool used = false;
    ReplacedKey resolved;
  };
  Value* value_of(const KeyPath& path);
  std::map<std::string, Value> values_;
};

}  // namespace npu::model
