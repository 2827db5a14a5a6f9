// SPDX-License-Identifier: Apache-2.0
#include "model/config/yaml_document.hpp"

#include <yaml.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

namespace npu::model {
namespace {

// Sections within sections; a file that nests deeper is no configuration.
constexpr std::size_t kDeepest = 64;

SourcePlace place_of(const std::string& file, const yaml_mark_t& mark) {
  return {file, static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
}

// The events of libyaml, one at a time.
class Events {
 public:
  explicit Events(const std::string& text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }

  // Null when the text is not valid YAML.
  const yaml_event_t* next() {
    yaml_event_delete(&event_);
    return yaml_parser_parse(&parser_, &event_) != 0 ? &event_ : nullptr;
  }
  ConfigError error(const std::string& file) const {
    // What is no UTF-8 has an offset only.
    const bool placed = parser_.error != YAML_READER_ERROR;
    const SourcePlace place =
        placed ? place_of(file, parser_.problem_mark) : SourcePlace{file, 0, 0};
    std::string problem = "not valid YAML: ";
    if (parser_.context != nullptr) problem += std::string(parser_.context) + ": ";
    return error_at(place, "", problem + (parser_.problem != nullptr ? parser_.problem : ""));
  }

 private:
  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

// libyaml's own documents drop the places of keys; its events have them all.
class TreeBuilder {
 public:
  explicit TreeBuilder(const std::string& file) : file_(file) {}

  void take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_ALIAS_EVENT:
        refuse(event, "aliases are not used in configurations");
        break;
      case YAML_SCALAR_EVENT:
        check(event, event.data.scalar.anchor, event.data.scalar.tag);
        add(scalar(event));
        break;
      case YAML_SEQUENCE_START_EVENT:
        check(event, event.data.sequence_start.anchor, event.data.sequence_start.tag);
        open(event, YamlNode::Kind::kSequence);
        break;
      case YAML_MAPPING_START_EVENT:
        check(event, event.data.mapping_start.anchor, event.data.mapping_start.tag);
        open(event, YamlNode::Kind::kMap);
        break;
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        close();
        break;
      default:
        break;
    }
  }

  YamlNode root;
  std::optional<ConfigError> error;  // the first; nothing is taken after it

 private:
  struct Open {
    YamlNode node;
    std::optional<YamlNode> key;  // a map's key that waits for its value
  };

  SourcePlace place(const yaml_event_t& event) const { return place_of(file_, event.start_mark); }
  YamlNode node(YamlNode::Kind kind, const yaml_event_t& event) const {
    YamlNode made;
    made.kind = kind;
    made.place = place(event);
    return made;
  }
  YamlNode scalar(const yaml_event_t& event) const {
    static const std::set<std::string> kNulls{"", "~", "null", "Null", "NULL"};
    const auto& given = event.data.scalar;
    std::string text(reinterpret_cast<const char*>(given.value), given.length);
    const bool quoted = given.style != YAML_PLAIN_SCALAR_STYLE;
    if (!quoted && kNulls.count(text) != 0) return node(YamlNode::Kind::kNull, event);
    YamlNode made = node(YamlNode::Kind::kScalar, event);
    made.text = std::move(text);
    made.quoted = quoted;
    return made;
  }
  void refuse(const yaml_event_t& event, const std::string& problem) {
    if (!error) error = error_at(place(event), "", problem);
  }
  void check(const yaml_event_t& event, const yaml_char_t* anchor, const yaml_char_t* tag) {
    if (anchor != nullptr) refuse(event, "anchors are not used in configurations");
    if (tag != nullptr) refuse(event, "tags are not used in configurations");
  }
  void open(const yaml_event_t& event, YamlNode::Kind kind) {
    if (open_.size() == kDeepest) refuse(event, "sections and lists are nested too deep");
    open_.push_back({node(kind, event), std::nullopt});
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
      // A value that is left out stands where its key does.
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
  Events events(text);
  unsigned documents = 0;
  for (const auto* event = events.next();; event = events.next()) {
    if (event == nullptr) return tl::unexpected(events.error(file));
    if (event->type == YAML_STREAM_END_EVENT) break;
    if (documents == 2) {
      return tl::unexpected(error_at(place_of(file, event->start_mark), "",
                                     "a file holds one document; a second begins here"));
    }
    if (event->type == YAML_DOCUMENT_START_EVENT) ++documents;
    builder.take(*event);
    if (builder.error) return tl::unexpected(*builder.error);
  }
  if (documents == 0) return tl::unexpected(error_at({file, 1, 1}, "", "the file is empty"));
  return std::move(builder.root);
}

ConfigResult<YamlNode> read_yaml_file(const std::string& path) {
  constexpr std::uintmax_t kLargestFile = 8 << 20;  // many cards, as config show writes them
  std::error_code code;
  const auto kind = std::filesystem::status(path, code).type();
  const auto refuse = [&](const char* problem) {
    return tl::unexpected(error_at({path, 0, 0}, "", problem));
  };
  if (kind == std::filesystem::file_type::not_found) return refuse("no such file");
  if (kind == std::filesystem::file_type::directory) return refuse("is a directory");
  if (kind != std::filesystem::file_type::regular) return refuse("is not a regular file");
  if (std::filesystem::file_size(path, code) > kLargestFile) return refuse("is larger than 8 MiB");
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return refuse("cannot be read");
  return parse_yaml(text.str(), path);
}

}  // namespace npu::model
