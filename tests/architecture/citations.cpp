// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/citations.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>

namespace npu::architecture {
namespace {

constexpr std::string_view kFolder = "docs/sources/", kIndex = "docs/sources/README.md";

const std::regex& anchor_pattern() {
  static const std::regex kAnchor(R"((?:^|\n)(?:#+ |\| )([A-Z][0-9]+)\b)");
  return kAnchor;
}

bool is_page(std::string_view path) {
  return path.substr(0, kFolder.size()) == kFolder && path != kIndex;
}

std::size_t line_at(std::string_view text, std::size_t position) {
  return static_cast<std::size_t>(std::count(text.begin(), text.begin() + position, '\n')) + 1;
}

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
         c == '/' || c == '$' || c == '{' || c == '}';
}

// The document whose name ends with the ".md" at `dot`. Empty for other words, for names that a
// program puts together, and for files it handles: string literals of a name alone.
std::string document_at(std::string_view text, std::size_t dot) {
  const std::size_t end = dot + 3;
  if (end < text.size() && is_name_character(text[end]) && text[end] != '.') return {};
  std::size_t begin = dot;
  while (begin > 0 && is_name_character(text[begin - 1])) --begin;
  const std::string name(text.substr(begin, end - begin));
  if (begin == dot || name.find('$') != std::string::npos) return {};
  if (begin > 0 && text[begin - 1] == '"') return {};
  return name;
}

// What follows `begin`, with line breaks, indentation and comment marks as single blanks.
std::string following(std::string_view text, std::size_t begin) {
  std::string result;
  for (std::size_t i = begin; i < text.size() && result.size() < 80; ++i) {
    if (text[i] != '\n') {
      result += text[i];
      continue;
    }
    while (i + 1 < text.size() && std::string_view(" \t/#*").find(text[i + 1]) != std::string::npos)
      ++i;
    result += ' ';
  }
  return result;
}

// The anchors that follow a page's name: "M3", ", M3", "M1, M3", "F1 and F2", "F1..F16".
std::vector<std::string> cited_anchors(const std::string& rest) {
  static const std::regex kFirst(R"(^(?:, |,| |\()?([A-Z][0-9]+)\b)");
  static const std::regex kNext(R"(^(?:, | and | or | to |\.\.)([A-Z][0-9]+)\b)");
  std::vector<std::string> anchors;
  std::smatch match;
  std::string left = rest;
  while (std::regex_search(left, match, anchors.empty() ? kFirst : kNext)) {
    anchors.push_back(match[1]);
    left = match.suffix();
  }
  return anchors;
}

// The file of the tree that a text at `path` means; empty if there is none.
std::string document_path(const std::string& name, const std::string& path, const Tree& tree) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path).parent_path();
  for (const auto& place :
       {folder / name, fs::path(name), fs::path("docs") / name, fs::path("docs/sources") / name}) {
    const std::string found = place.lexically_normal().generic_string();
    if (tree.count(found) != 0) return found;
  }
  return {};
}

// [text](name): leads to a page as a whole.
bool is_link(std::string_view text, std::size_t begin) {
  return begin >= 2 && text.substr(begin - 2, 2) == "](";
}

// The heading in quotes that follows a document's name; empty if none does.
std::string cited_heading(const std::string& rest) {
  static const std::regex kQuoted("^`?,? \"([^\"]+)\"");
  std::smatch match;
  return std::regex_search(rest, match, kQuoted) ? match[1].str() : std::string();
}

// Documents that texts used to cite and that are not part of this repository.
Violations check_foreign(const SourceFile& file) {
  static const std::regex kForeign(R"(\b([Mm]ission( M[0-9]+|'s|\.md)|[a-z0-9]+-(facts|notes))\b)");
  Violations violations;
  for (std::sregex_iterator at(file.text.begin(), file.text.end(), kForeign), end; at != end;
       ++at) {
    violations.push_back({file.path, line_at(file.text, static_cast<std::size_t>(at->position())),
                          "\"" + at->str() + "\" is no page of docs/sources"});
  }
  return violations;
}

}  // namespace

Documents read_documents(const std::vector<SourceFile>& files) {
  static const std::regex kHeading(R"((?:^|\n)#+ ([^\n]+))");
  Documents documents;
  for (const auto& file : files) {
    auto& places = documents[file.path];
    using At = std::sregex_iterator;
    for (At at(file.text.begin(), file.text.end(), kHeading), end; at != end; ++at) {
      places.insert((*at)[1]);
    }
    if (!is_page(file.path)) continue;
    for (At at(file.text.begin(), file.text.end(), anchor_pattern()), end; at != end; ++at) {
      places.insert((*at)[1]);
    }
  }
  return documents;
}

Violations check_anchors(const SourceFile& page) {
  Violations violations;
  std::set<std::string> seen;
  if (!is_page(page.path)) return violations;
  using At = std::sregex_iterator;
  for (At at(page.text.begin(), page.text.end(), anchor_pattern()), end; at != end; ++at) {
    if (seen.insert((*at)[1]).second) continue;
    violations.push_back({page.path, line_at(page.text, static_cast<std::size_t>(at->position(1))),
                          "has the anchor " + (*at)[1].str() + " twice"});
  }
  return violations;
}

Violations check_page_names(const Tree& tree) {
  Violations violations;
  for (const auto& path : tree) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const std::string page = std::string(kFolder) + name;
    if (path == page || !is_page(page) || tree.count(page) == 0) continue;
    violations.push_back({path, 0, "has the name of a page of docs/sources"});
  }
  return violations;
}

Violations check_citations(const SourceFile& file, const Documents& documents, const Tree& tree) {
  Violations violations = check_foreign(file);
  const std::string_view text = file.text;
  for (auto dot = text.find(".md"); dot != std::string::npos; dot = text.find(".md", dot + 3)) {
    const std::string name = document_at(text, dot);
    if (name.empty()) continue;
    const auto complain = [&](const std::string& rule) {
      violations.push_back({file.path, line_at(text, dot), rule});
    };
    const std::string path = document_path(name, file.path, tree);
    if (path.empty()) {
      if (!is_page(file.path)) complain(name + " is no document of this tree");
      continue;
    }
    const auto places = documents.find(path);
    if (places == documents.end()) continue;
    const std::string rest = following(text, dot + 3);
    std::vector<std::string> cited;
    if (is_page(path)) {
      cited = cited_anchors(rest);
      const bool named_only = is_link(text, dot + 3 - name.size()) ||
                              (file.path == kIndex && rest.compare(0, 1, "`") == 0);
      if (cited.empty() && !named_only) complain(name + " is cited without an anchor");
    } else if (const auto heading = cited_heading(rest); !heading.empty()) {
      cited.push_back(heading);
    }
    for (const auto& place : cited) {
      if (places->second.count(place) == 0) complain(name + " has no \"" + place + "\"");
    }
  }
  return violations;
}

}  // namespace npu::architecture
