// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/csv_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/reports/input_file.hpp"

namespace npu::reports {
namespace {

struct Record {
  int line = 0;
  std::vector<std::string> fields;
};

// Reads fields one after the other.
class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  Record next() {
    Record record{line_, {}};
    do {
      record.fields.push_back(field());
    } while (skip(','));
    skip('\r');
    if (skip('\n')) ++line_;
    return record;
  }

 private:
  bool skip(char what) {
    if (at_end() || text_[at_] != what) return false;
    ++at_;
    return true;
  }
  std::string field() {
    std::string field;
    if (!skip('"')) {
      const auto end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      field = text_.substr(at_, end - at_);
      at_ = end;
      return field;
    }
    while (!at_end()) {
      const char c = text_[at_++];
      if (c == '"' && !skip('"')) break;
      if (c == '\n') ++line_;
      field += c;
    }
    return field;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

const std::string& CsvRow::at(const std::string& column) const {
  static const std::string kNone;
  const auto found = fields.find(column);
  return found == fields.end() ? kNone : found->second;
}

Result<std::vector<CsvRow>> load_csv(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return forward_error(text);
  return parse_csv(*text, path);
}

Result<std::vector<CsvRow>> parse_csv(const std::string& text, const std::string& name) {
  Scanner scanner(text);
  if (scanner.at_end()) return fail(ErrorCode::kInvalidArgument, name + ": an empty file");
  const auto names = scanner.next().fields;
  std::vector<CsvRow> rows;
  while (!scanner.at_end()) {
    const auto record = scanner.next();
    if (record.fields.size() == 1 && record.fields[0].empty()) continue;
    if (record.fields.size() != names.size()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}:{}: {} fields; the first line names {}", name, record.line,
                              record.fields.size(), names.size()));
    }
    CsvRow row{record.line, {}};
    for (std::size_t i = 0; i < names.size(); ++i) row.fields[names[i]] = record.fields[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace npu::reports
