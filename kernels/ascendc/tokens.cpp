// SPDX-License-Identifier: Apache-2.0
#include "kernels/ascendc/tokens.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace npu::ascendc {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

std::size_t TokenReader::end_of_literal(char quote) const {
  std::size_t end = at_ + 1;
  while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
    end += text_[end] == '\\' ? 2 : 1;
  }
  return std::min(end + 1, text_.size());
}

// Behind R: "mark( ... )mark".
std::size_t TokenReader::end_of_raw_literal() const {
  const auto open = text_.find('(', at_);
  if (open == std::string_view::npos) return text_.size();
  const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
  const auto end = text_.find(close, open);
  return end == std::string_view::npos ? text_.size() : end + close.size();
}

Token TokenReader::next() {
  if (at_ >= text_.size()) return {};
  const std::size_t begin = at_;
  const char first = text_[begin];
  const bool raw = begin != 0 && first == '"' && text_[begin - 1] == 'R';
  const bool new_line = begin == 0 || text_[begin - 1] == '\n';
  std::size_t end = begin + 1;
  TokenKind kind = TokenKind::kSign;
  if (first == '#' && new_line) {
    kind = TokenKind::kLine;
    end = std::min(text_.find('\n', begin), text_.size());
  } else if (is_blank(first)) {
    // Up to the end of the line: a line may begin with #.
    kind = TokenKind::kSpace;
    while (first != '\n' && end < text_.size() && text_[end] != '\n' && is_blank(text_[end])) ++end;
  } else if (is_word(first)) {
    kind = TokenKind::kWord;
    // 1'000 is a number.
    const bool number = std::isdigit(static_cast<unsigned char>(first)) != 0;
    while (end < text_.size() && (is_word(text_[end]) || (number && text_[end] == '\''))) ++end;
  } else if (first == '"' || first == '\'') {
    kind = TokenKind::kText;
    end = raw ? end_of_raw_literal() : end_of_literal(first);
  } else if (text_.substr(begin, 3) == "<<<") {
    end = begin + 3;
  }
  at_ = end;
  return {kind, text_.substr(begin, end - begin)};
}

Token TokenReader::peek() const {
  TokenReader ahead = *this;
  Token token = ahead.next();
  while (token.kind == TokenKind::kSpace || token.kind == TokenKind::kLine) token = ahead.next();
  return token;
}

// # 12 "file" 1 3
void TokenReader::take_line(std::string_view line) {
  const auto open = line.find('"'), close = line.rfind('"');
  if (open == std::string_view::npos || close == open) return;
  line_ = static_cast<unsigned>(
              std::strtoul(std::string(line.substr(1, open - 1)).c_str(), nullptr, 10)) -
          1;
  file_ = std::string(line.substr(open + 1, close - open - 1));
  system_ = line.find('3', close) != std::string_view::npos;
}

void TokenReader::count(std::string_view text) {
  line_ += static_cast<unsigned>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace npu::ascendc
