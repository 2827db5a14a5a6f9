// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/architecture/citations.hpp"

namespace npu::architecture {
namespace {

using NameSet = std::set<std::string>;

constexpr std::size_t kShortestPattern = 3;  // "*" alone names nothing

std::string folder_in_front(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::string stem_of(const std::string& name) {
  return name.substr(0, name.find('.'));
}

// What lies in a folder ("" or "model/dma/"): files by their names, folders with a '/' behind.
NameSet beside(const std::string& folder, const Tree& tree) {
  NameSet names;
  for (auto at = tree.lower_bound(folder); at != tree.end(); ++at) {
    if (at->compare(0, folder.size(), folder) != 0) break;
    const std::size_t slash = at->find('/', folder.size());
    names.insert(slash == std::string::npos ? at->substr(folder.size())
                                            : at->substr(folder.size(), slash + 1 - folder.size()));
  }
  return names;
}

bool fits(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  const std::string_view tail = pattern.substr(star + 1);
  if (name.size() < star || name.substr(0, star) != pattern.substr(0, star)) return false;
  for (std::size_t i = star; i <= name.size(); ++i) {
    if (fits(tail, name.substr(i))) return true;
  }
  return false;
}

// The words of a text that may be names, without the full stop of a sentence.
NameSet words_of(std::string_view text) {
  constexpr std::string_view kCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./*";
  NameSet words;
  for (std::size_t begin = 0; begin < text.size();) {
    begin = text.find_first_of(kCharacters, begin);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_not_of(kCharacters, begin), text.size());
    std::string word(text.substr(begin, end - begin));
    while (!word.empty() && word.back() == '.') word.pop_back();
    words.insert(word);
    begin = end;
  }
  return words;
}

bool has_known_ending(const std::string& word) {
  static const NameSet kEndings{".cpp", ".hpp", ".h",    ".c",   ".py",  ".sh",  ".cmake",
                                ".in",  ".csv", ".yaml", ".yml", ".txt", ".html"};
  const std::size_t dot = word.rfind('.');
  const bool named = dot != std::string::npos && dot > 0 && word[dot - 1] != '*';
  return named && kEndings.count(word.substr(dot)) != 0;
}

// NAME.cpp stands for any; the tree is listed without hidden files.
bool is_placeholder(const std::string& word) {
  if (word[0] == '.' && word[1] != '.' && word[1] != '/') return true;
  return std::any_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool ends_some_path(const std::string& word, const std::string& folder, const Tree& tree) {
  namespace fs = std::filesystem;
  if (tree.count(fs::path(folder + word).lexically_normal().generic_string()) != 0) return true;
  const std::string ending = "/" + word;
  return std::any_of(tree.begin(), tree.end(), [&](const std::string& path) {
    return path == word || (path.size() > ending.size() &&
                            path.compare(path.size() - ending.size(), ending.size(), ending) == 0);
  });
}

// Of a line that begins with '|', without blanks around.
std::string first_cell(const std::string& line) {
  const std::size_t bar = std::min(line.find('|', 1), line.size());
  const std::string cell = line.substr(1, bar - 1);
  const std::size_t begin = cell.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin);
}

// A path from the root, as far as its first folder tells: "model/dma/engine" or "docs/*.md".
bool begins_at_root(const std::string& word, const Tree& tree) {
  const std::size_t slash = word.find('/');
  return slash != std::string::npos && slash != 0 &&
         !beside(word.substr(0, slash + 1), tree).empty();
}

bool is_path(const std::string& word, const Tree& tree) {
  if (!beside(word + "/", tree).empty()) return true;
  return std::any_of(tree.begin(), tree.end(), [&word](const std::string& path) {
    const std::size_t name = path.rfind('/') + 1;
    return fits(word, path) || fits(word, path.substr(0, name) + stem_of(path.substr(name)));
  });
}

// The first cells of the tables whose first column is headed "file", "folder" or "header".
std::vector<std::pair<std::size_t, std::string>> listed_names(const std::string& text) {
  static const NameSet kHeads{"file", "files", "folder", "header"};
  std::vector<std::pair<std::size_t, std::string>> cells;
  std::istringstream lines(text);
  bool listed = false;
  bool in_table = false;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] != '|') {
      in_table = false;
      continue;
    }
    const std::string cell = first_cell(line);
    if (!in_table) listed = kHeads.count(cell) != 0;
    if (in_table && listed && line.compare(0, 2, "|-") != 0) cells.emplace_back(number, cell);
    in_table = true;
  }
  return cells;
}

}  // namespace

Violations check_named(const SourceFile& readme, const Tree& tree) {
  NameSet words;
  for (const auto& word : words_of(readme.text)) {
    words.insert(word);
    std::istringstream parts(word);
    for (std::string part; std::getline(parts, part, '/');) {
      words.insert(part);
      words.insert(stem_of(part));
    }
  }
  Violations violations;
  NameSet missed;
  for (const auto& name : beside(folder_in_front(readme.path), tree)) {
    const bool folder = name.back() == '/';
    const std::string stem = folder ? name.substr(0, name.size() - 1) : stem_of(name);
    if (name == "README.md" || name == "CMakeLists.txt" || name == "__init__.py") continue;
    const auto names_it = [&stem](const std::string& word) {
      return word.size() >= kShortestPattern && fits(word, stem);
    };
    // At the root people leave reports of their own.
    const bool foreign = readme.path == "README.md" && tree.count(name + "README.md") == 0;
    const bool plain = foreign || words.count(stem) != 0;
    if (plain || std::any_of(words.begin(), words.end(), names_it)) continue;
    if (missed.insert(stem).second)
      violations.push_back({readme.path, 0, "does not name " + stem + (folder ? "/" : "")});
  }
  return violations;
}

Violations check_names(const SourceFile& readme, const Tree& tree) {
  const std::string folder = folder_in_front(readme.path);
  const auto neighbours = beside(folder, tree);
  Violations violations;
  for (const auto& [line, cell] : listed_names(readme.text)) {
    for (const auto& word : words_of(cell)) {
      std::string stem = word;
      while (!stem.empty() && stem.back() == '/') stem.pop_back();
      if (stem.empty() || stem.front() == '.') continue;  // hidden
      const bool there =
          std::any_of(neighbours.begin(), neighbours.end(), [&stem](const std::string& name) {
            const std::string bare = name.back() == '/' ? name.substr(0, name.size() - 1) : name;
            return fits(stem, bare) || fits(stem, stem_of(bare));
          });
      if (!there && !ends_some_path(stem, folder, tree) && beside(stem + "/", tree).empty() &&
          beside(folder + stem + "/", tree).empty())
        violations.push_back({readme.path, line, word + " is not there"});
    }
  }
  for (const auto& word : words_of(readme.text)) {
    if (is_placeholder(word)) continue;
    std::string path = word;
    while (!path.empty() && path.back() == '/') path.pop_back();
    if (begins_at_root(path, tree) && !is_path(path, tree))
      violations.push_back({readme.path, 0, path + " is not in this tree"});
    if (!has_known_ending(word)) continue;
    if (!ends_some_path(word, folder, tree))
      violations.push_back({readme.path, 0, word + " is no file of this tree"});
  }
  return violations;
}

}  // namespace npu::architecture
