// SPDX-License-Identifier: Apache-2.0
// Functions, files and lines of addresses in the code of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

struct Dwfl;

namespace npu::races {

// /proc/PROCESS/maps; empty: there is none.
std::string maps_of(pid_t process);
// The last part of a path.
std::string_view file_of(std::string_view path);

class CodePlaces {
 public:
  // Of a process with these maps. Of modules with such a path nothing is said.
  CodePlaces(const std::string& maps, std::function<bool(std::string_view)> is_left_out);
  ~CodePlaces();
  CodePlaces(const CodePlaces&) = delete;
  CodePlaces& operator=(const CodePlaces&) = delete;

  // "main (FILE.c:12)", behind what is inlined there, from the innermost one outwards; without
  // debug information function and module. Left out: unknown, or of a header of the system.
  std::vector<std::string> texts_of(std::uint64_t address) const;

 private:
  ::Dwfl* const dwfl_;
  const std::function<bool(std::string_view)> is_left_out_;
};

// The stack of a program in words: "inner (FILE.c:12) < main (FILE.c:30)".
class StackText {
 public:
  // Ends in front of functions whose names begin so; empty: of none.
  explicit StackText(std::string_view end = {}) : end_(end) {}

  // Of the next frame outwards, from the innermost one outwards.
  void add(const std::vector<std::string>& lines);
  bool complete() const { return complete_; }
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  const std::string_view end_;
  std::string text_;
  std::size_t shown_ = 0;
  bool complete_ = false;
};

}  // namespace npu::races
