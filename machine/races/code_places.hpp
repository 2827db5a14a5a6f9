// SPDX-License-Identifier: Apache-2.0
// Functions, files and lines of addresses in the code of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

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

  // "main (FILE.c:12)"; without debug information function and module. Empty: left out, unknown, or
  // of a header of the system.
  std::string text_of(std::uint64_t address) const;

 private:
  ::Dwfl* const dwfl_;
  const std::function<bool(std::string_view)> is_left_out_;
};

}  // namespace npu::races
