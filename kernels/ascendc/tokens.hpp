// SPDX-License-Identifier: Apache-2.0
// The words of a preprocessed source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace npu::ascendc {

enum class TokenKind : std::uint8_t { kEnd, kWord, kText, kSign, kSpace, kLine };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  bool is(std::string_view what) const { return text == what; }
};

// Reads one token after another, of which all together are the text: identifiers and numbers
// (kWord), literals of characters (kText), `<<<` and single characters (kSign), blanks and ends of
// lines (kSpace), whole lines that begin with # (kLine).
class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : text_(text) {}

  Token next();
  // As next() would give behind blanks, which are not taken.
  Token peek() const;
  std::size_t place() const { return at_; }
  void go_to(std::size_t place) { at_ = place; }

  // Where the last token was, by the lines that the preprocessor leaves.
  std::string where() const { return file_ + ":" + std::to_string(line_); }
  bool in_system_header() const { return system_; }
  // Of a kLine token.
  void take_line(std::string_view line);
  // Counts the ends of lines in a token.
  void count(std::string_view text);

 private:
  std::size_t end_of_literal(char quote) const;
  std::size_t end_of_raw_literal() const;

  std::string_view text_;
  std::size_t at_ = 0;
  std::string file_;
  unsigned line_ = 1;
  bool system_ = false;
};

}  // namespace npu::ascendc
