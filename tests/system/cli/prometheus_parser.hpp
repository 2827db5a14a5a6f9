// SPDX-License-Identifier: Apache-2.0
// A strict reader of Prometheus' text format 0.0.4: what it does not expect is an error with its
// line.
#pragma once

#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

namespace npu::test {

class PrometheusText {
 public:
  explicit PrometheusText(const std::string& text) : text_(text) { read(); }

  const std::string& error() const { return error_; }  // empty: none
  // Of "name{label="value",...}" as it stands there.
  const std::map<std::string, double>& samples() const { return samples_; }
  const std::map<std::string, std::string>& types() const { return types_; }

 private:
  void fail(const std::string& why) {
    if (error_.empty()) error_ = "line " + std::to_string(line_) + ": " + why;
  }
  static bool starts_name(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == ':';
  }
  static bool in_name(char c) {
    return starts_name(c) || std::isdigit(static_cast<unsigned char>(c));
  }
  static std::string take_name(const std::string& line, std::size_t& at) {
    const std::size_t begin = at;
    if (at < line.size() && starts_name(line[at])) {
      while (at < line.size() && in_name(line[at])) ++at;
    }
    return line.substr(begin, at - begin);
  }
  void read() {
    if (text_.empty() || text_.back() != '\n') return fail("no line feed at the end");
    std::size_t begin = 0;
    while (begin < text_.size() && error_.empty()) {
      const std::size_t end = text_.find('\n', begin);
      ++line_;
      read_line(text_.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  void read_line(const std::string& line) {
    if (line.rfind("# HELP ", 0) == 0) return read_comment(line.substr(7), helps_, "HELP");
    if (line.rfind("# TYPE ", 0) == 0) return read_comment(line.substr(7), types_, "TYPE");
    if (line.empty() || line[0] == '#') return fail("neither HELP, TYPE nor a sample");
    read_sample(line);
  }
  void read_comment(const std::string& rest, std::map<std::string, std::string>& to,
                    const char* what) {
    std::size_t at = 0;
    const std::string name = take_name(rest, at);
    if (name.empty() || at >= rest.size() || rest[at] != ' ') return fail("no name");
    if (!to.emplace(name, rest.substr(at + 1)).second) return fail(std::string("a second ") + what);
    if (ended_.count(name) != 0 || name == family_) return fail("behind samples of its family");
    if (&to != &types_) return;
    static const std::set<std::string> kTypes{"counter", "gauge", "histogram", "summary",
                                              "untyped"};
    if (kTypes.count(to[name]) == 0) fail("type " + to[name]);
  }
  void read_sample(const std::string& line) {
    std::size_t at = 0;
    const std::string name = take_name(line, at);
    if (name.empty()) return fail("no name");
    if (types_.count(name) == 0 || helps_.count(name) == 0)
      return fail(name + " has no HELP or TYPE");
    if (name != family_) {
      if (!family_.empty()) ended_.insert(family_);
      if (ended_.count(name) != 0) return fail(name + " in two places");
      family_ = name;
    }
    if (at < line.size() && line[at] == '{' && !read_labels(line, at)) return;
    const std::string key = line.substr(0, at);
    if (at >= line.size() || line[at] != ' ') return fail("no value");
    const std::string value = line.substr(at + 1);
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0') return fail("value '" + value + "'");
    if (types_[name] == "counter" && !(number >= 0)) return fail("a counter below 0");
    if (!samples_.emplace(key, number).second) fail("a second sample of " + key);
  }
  bool read_labels(const std::string& line, std::size_t& at) {
    std::set<std::string> seen;
    do {
      ++at;
      const std::string label = take_name(line, at);
      if (label.empty() || !seen.insert(label).second) return fail("label"), false;
      if (line.compare(at, 2, "=\"") != 0) return fail("label without a value"), false;
      for (at += 2; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] != '\\') continue;
        ++at;
        if (at >= line.size() || std::string("\\\"n").find(line[at]) == std::string::npos) {
          return fail("escape"), false;
        }
      }
      ++at;
    } while (at < line.size() && line[at] == ',');
    if (at >= line.size() || line[at] != '}') return fail("labels do not end"), false;
    ++at;
    return true;
  }

  const std::string text_;
  std::size_t line_ = 0;
  std::string error_, family_;
  std::set<std::string> ended_;
  std::map<std::string, std::string> helps_, types_;
  std::map<std::string, double> samples_;
};

}  // namespace npu::test
