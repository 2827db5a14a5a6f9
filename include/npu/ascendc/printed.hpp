// SPDX-License-Identifier: Apache-2.0
// What kernels have printed (print.hpp), as text: in the host's part of a source.
#pragma once

#include <cstdio>
#include <string>

#include "npu/ascendc/print.hpp"

namespace npu::ascendc {

// Reads the words of a message one after another; behind the last one there are zeros.
class PrintedWords {
 public:
  PrintedWords(const char* first, std::uint64_t count) : at_(first), left_(count) {}
  std::uint64_t next() {
    std::uint64_t word = 0;
    if (left_ == 0) return 0;
    std::memcpy(&word, at_, sizeof word);
    at_ += sizeof word;
    --left_;
    return word;
  }
  std::string text() {
    const std::uint64_t bytes = std::min(next(), left_ * sizeof(std::uint64_t));
    std::string result(at_, bytes);
    const std::uint64_t words = aicore::round_up(bytes, sizeof(std::uint64_t)) / 8;
    at_ += words * 8;
    left_ -= words;
    return result;
  }
  bool at_end() const { return left_ == 0; }

 private:
  const char* at_;
  std::uint64_t left_;
};

struct PrintedValue {
  PrintedKind kind = PrintedKind::kSigned;
  std::uint64_t size = 0, word = 0;
  std::string text;

  static PrintedValue read(PrintedWords& words) {
    PrintedValue value;
    const std::uint64_t what = words.next();
    value.kind = static_cast<PrintedKind>(what >> 8);
    value.size = what & 0xFF;
    if (value.kind == PrintedKind::kText) {
      value.text = words.text();
    } else {
      value.word = words.next();
    }
    return value;
  }
  double real() const {
    double number = 0;
    std::memcpy(&number, &word, sizeof number);
    if (kind == PrintedKind::kReal) return number;
    return kind == PrintedKind::kSigned ? static_cast<double>(static_cast<std::int64_t>(word))
                                        : static_cast<double>(word);
  }
  unsigned long long bits() const {
    if (kind == PrintedKind::kReal) return static_cast<unsigned long long>(real());
    return size == 4 ? word & 0xFFFF'FFFFU : word;
  }
  long long whole() const {
    if (kind == PrintedKind::kReal) return static_cast<long long>(real());
    return size == 4 ? static_cast<std::int32_t>(word) : static_cast<long long>(word);
  }
};

// One conversion: `flags` is what stands between % and the length, `kind` the last letter.
inline std::string converted(const std::string& flags, char kind, const PrintedValue& value) {
  const auto with = [](const std::string& format, auto what) {
    const int size = std::snprintf(nullptr, 0, format.c_str(), what);
    std::string result(size < 0 ? 0 : static_cast<std::size_t>(size), '\0');
    std::snprintf(result.data(), result.size() + 1, format.c_str(), what);
    return result;
  };
  const std::string letter(1, kind);
  switch (kind) {
    case 'd':
    case 'i':
      return with("%" + flags + "ll" + letter, value.whole());
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      return with("%" + flags + "ll" + letter, value.bits());
    case 'c':
      return with("%" + flags + letter, static_cast<int>(value.whole()));
    case 'p':
      return with("%" + flags + letter, reinterpret_cast<const void*>(value.word));
    case 's':
      return with("%" + flags + letter, value.text.c_str());
    default:
      return with("%" + flags + letter, value.real());
  }
}

inline std::string printed_message(PrintedWords words) {
  const std::string format = words.text();
  std::string result;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      result += format[at];
      continue;
    }
    std::string flags;
    for (++at; at < format.size(); ++at) {
      if (format[at] == '*' && !words.at_end()) {
        flags += std::to_string(PrintedValue::read(words).whole());
      } else if (std::strchr("-+ #.0123456789", format[at]) != nullptr) {
        flags += format[at];
      } else if (std::strchr("hljztL", format[at]) == nullptr) {
        break;
      }
    }
    if (at == format.size()) break;
    if (format[at] == '%') {
      result += '%';
    } else if (words.at_end() || std::strchr("diuoxXcpsfFeEgGaA", format[at]) == nullptr) {
      result += "%" + flags + format[at];
    } else {
      result += converted(flags, format[at], PrintedValue::read(words));
    }
  }
  return result;
}

inline void write_message(const char* words, std::uint64_t count) {
  const std::string text = printed_message(PrintedWords(words, count));
  std::fwrite(text.data(), 1, text.size(), stdout);
}
inline const bool kPrintsOnHost = [] {
  print_on_host = [](const std::uint64_t* words, unsigned count) {
    write_message(reinterpret_cast<const char*>(words + 1), count - 1);
  };
  return true;
}();

// What cores have written, in the order of blocks, to standard output.
inline void write_printed(const void* bytes, std::size_t size, std::size_t region) {
  const auto* const all = static_cast<const char*>(bytes);
  for (std::size_t first = 0; first + region <= size; first += region) {
    PrintedWords header(all + first, 2);
    const std::uint64_t used = std::min<std::uint64_t>(header.next(), region - kRegionHeader);
    const std::uint64_t lost = header.next();
    for (std::uint64_t at = 0; at < used;) {
      const char* const message = all + first + kRegionHeader + at;
      const std::uint64_t words = PrintedWords(message, 1).next();
      if (words < 2 || words > (used - at) / 8) break;
      write_message(message + 8, words - 1);
      at += words * 8;
    }
    if (lost != 0) {
      std::fprintf(stderr, "npusim: block %zu of a kernel: no room for %llu printed messages\n",
                   first / region / kRegionsOfBlock, static_cast<unsigned long long>(lost));
    }
  }
}

}  // namespace npu::ascendc
