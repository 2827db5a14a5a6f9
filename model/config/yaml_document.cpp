// SPDX-License-Identifier: Apache-2.0
#include "model/config/yaml_document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace npu::model {
namespace {

// yaml-cpp's own nodes drop the places of keys on the way; its events have them all.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& file) : file_(file) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add(node(YamlNode::Kind::kNull, mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases are not used in configurations");
    add(node(YamlNode::Kind::kNull, mark));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    if (tag != "?" && tag != "!") refuse(mark, "tags are not used in configurations");
    YamlNode scalar = node(YamlNode::Kind::kScalar, mark);
    scalar.text = value;
    scalar.quoted = tag == "!";
    add(std::move(scalar));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_anchor(mark, anchor);
    open_.push_back({node(YamlNode::Kind::kSequence, mark), std::nullopt});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_anchor(mark, anchor);
    open_.push_back({node(YamlNode::Kind::kMap, mark), std::nullopt});
  }
  void OnMapEnd() override { close(); }

  YamlNode root;
  std::optional<ConfigError> error;

 private:
  struct Open {
    YamlNode node;
    std::optional<YamlNode> key;  // a map's key that waits for its value
  };

  YamlNode node(YamlNode::Kind kind, const YAML::Mark& mark) const {
    YamlNode made;
    made.kind = kind;
    made.place = {file_, mark.line + 1, mark.column + 1};
    return made;
  }
  void refuse(const YAML::Mark& mark, const std::string& problem) {
    if (!error) error = error_at({file_, mark.line + 1, mark.column + 1}, "", problem);
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) refuse(mark, "anchors are not used in configurations");
  }
  void close() {
    YamlNode done = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(done));
  }
  void add(YamlNode child) {
    if (open_.empty()) {
      root = std::move(child);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::kSequence) {
      parent.node.items.push_back(std::move(child));
    } else if (!parent.key) {
      if (child.kind != YamlNode::Kind::kScalar && !error) {
        error = error_at(child.place, "", "a key must be a name; found " + describe(child));
      }
      parent.key = std::move(child);
    } else {
      // yaml-cpp places a value that is left out at whatever comes next.
      if (child.kind == YamlNode::Kind::kNull) child.place = parent.key->place;
      parent.node.entries.push_back({parent.key->text, parent.key->place, std::move(child)});
      parent.key.reset();
    }
  }

  const std::string& file_;
  std::vector<Open> open_;
};

}  // namespace

const YamlNode::Entry* YamlNode::find(const std::string& key) const {
  for (const auto& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "'" + node.text + "'";
    case YamlNode::Kind::kSequence:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a section";
  }
  return {};
}

ConfigError error_at(const SourcePlace& place, std::string key, std::string problem) {
  ConfigError error;
  error.file = place.file;
  error.line = place.line;
  error.column = place.column;
  error.key = std::move(key);
  error.problem = std::move(problem);
  return error;
}

ConfigResult<YamlNode> parse_yaml(const std::string& text, const std::string& file) {
  if (text.find('\0') != std::string::npos) {
    return tl::unexpected(error_at({file, 0, 0}, "", "not a text file"));
  }
  TreeBuilder builder(file);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      return tl::unexpected(error_at({file, 1, 1}, "", "the file is empty"));
    }
    const YamlNode first = builder.root;
    if (!builder.error && parser.HandleNextDocument(builder)) {
      return tl::unexpected(
          error_at(builder.root.place, "", "a file holds one document; a second begins here"));
    }
    builder.root = first;
  } catch (const YAML::Exception& caught) {
    const bool placed = !caught.mark.is_null();
    const SourcePlace place{file, placed ? caught.mark.line + 1 : 0,
                            placed ? caught.mark.column + 1 : 0};
    return tl::unexpected(error_at(place, "", "not valid YAML: " + caught.msg));
  }
  if (builder.error) return tl::unexpected(*builder.error);
  return std::move(builder.root);
}

ConfigResult<YamlNode> read_yaml_file(const std::string& path) {
  constexpr std::uintmax_t kLargestFile = 1 << 20;  // a configuration is a few kilobytes
  std::error_code code;
  const auto kind = std::filesystem::status(path, code).type();
  const auto refuse = [&](const char* problem) {
    return tl::unexpected(error_at({path, 0, 0}, "", problem));
  };
  if (kind == std::filesystem::file_type::not_found) return refuse("no such file");
  if (kind == std::filesystem::file_type::directory) return refuse("is a directory");
  if (kind != std::filesystem::file_type::regular) return refuse("is not a regular file");
  if (std::filesystem::file_size(path, code) > kLargestFile) return refuse("is larger than 1 MiB");
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return refuse("cannot be read");
  return parse_yaml(text.str(), path);
}

}  // namespace npu::model
