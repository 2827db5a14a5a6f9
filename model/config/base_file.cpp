// SPDX-License-Identifier: Apache-2.0
#include "model/config/base_file.hpp"

#include <algorithm>

namespace npu::model {
namespace {

constexpr const char* kBase = "base";
constexpr unsigned kLongestChain = 8;

// Every key of `over` counts, a duplicate as a duplicate, and a wrong one where it stands.
YamlNode merged(const YamlNode& base, const YamlNode& over) {
  YamlNode result = over;
  const auto own = static_cast<std::ptrdiff_t>(over.entries.size());
  for (const auto& entry : base.entries) {
    const auto end = result.entries.begin() + own;
    const auto same = std::find_if(result.entries.begin(), end,
                                   [&entry](const auto& each) { return each.key == entry.key; });
    if (same == end) {
      result.entries.push_back(entry);
    } else if (same->value.kind == YamlNode::Kind::kMap &&
               entry.value.kind == YamlNode::Kind::kMap) {
      same->value = merged(entry.value, same->value);
    }
  }
  return result;
}

ConfigResult<YamlNode> complete(const YamlNode& file, const std::string& schema, ConfigFiles& files,
                                unsigned depth) {
  const auto* entry = file.find(kBase);
  if (entry == nullptr) return file;
  if (depth == kLongestChain) {
    return tl::unexpected(
        error_at(entry->value.place, kBase, "too many files, each the base of another"));
  }
  const auto found = files.read_reference(entry->value, kBase);
  if (!found) return tl::unexpected(found.error());
  const YamlNode& base = **found;
  const auto* own = base.kind == YamlNode::Kind::kMap ? base.find("schema") : nullptr;
  if (own == nullptr || own->value.text != schema) {
    ConfigError error = error_at(entry->value.place, kBase, "");
    error.found = describe(entry->value);
    error.allowed = "a file of 'schema: " + schema + "'";
    return tl::unexpected(error);
  }
  auto whole = complete(base, schema, files, depth + 1);
  if (!whole) return whole;
  return merged(*whole, file);
}

}  // namespace

ConfigResult<YamlNode> with_base(const YamlNode& file, const std::string& schema,
                                 ConfigFiles& files) {
  return complete(file, schema, files, 0);
}

}  // namespace npu::model
