// SPDX-License-Identifier: Apache-2.0
#include "model/core/source_lines.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace npu::model {
namespace {

struct SourceLine {
  std::string file;  // empty: of nobody whose lines are shown
  int number = 0;
};

bool begins_with(const std::string& text, std::string_view begin) {
  return text.compare(0, begin.size(), begin) == 0;
}

// `folder`: in which the compiler ran; names of files begin with it where they are relative.
SourceLine line_of(const char* path, int number, const char* folder) {
  if (path == nullptr) return {};
  std::string file = path;
  if (folder != nullptr && begins_with(file, std::string(folder) + "/")) {
    file.erase(0, std::string_view(folder).size() + 1);
  }
  if (begins_with(file, "/usr/") || begins_with(file, "include/") ||
      file.find("/include/npu/") != std::string::npos) {
    return {};
  }
  if (file.front() == '/') file.erase(0, file.rfind('/') + 1);
  return {file, number};
}

bool is_header(const std::string& file) {
  const auto end = file.substr(std::min(file.rfind('.'), file.size()));
  return end == ".h" || end == ".hpp" || end == ".inc";
}

int number_of(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  const bool there = dwarf_formudata(dwarf_attr(&die, name, &attribute), &value) == 0;
  return there ? static_cast<int>(value) : 0;
}

// Malloc'ed by the library.
class Scopes {
 public:
  // From the innermost one outwards.
  Scopes(Dwarf_Die& unit, Dwarf_Addr address) {
    Dwarf_Die* innermost = nullptr;
    if (dwarf_getscopes(&unit, address, &innermost) > 0) {
      count_ = dwarf_getscopes_die(innermost, &dies_);
    }
    std::free(innermost);
  }
  ~Scopes() { std::free(dies_); }
  Scopes(const Scopes&) = delete;
  Scopes& operator=(const Scopes&) = delete;

  Dwarf_Die* begin() const { return dies_; }
  Dwarf_Die* end() const { return dies_ + std::max(count_, 0); }

 private:
  Dwarf_Die* dies_ = nullptr;
  int count_ = 0;
};

// The line of the code at `address`, then those into which it was inlined.
std::vector<SourceLine> lines_at(Dwarf_Die& unit, Dwarf_Addr address) {
  std::vector<SourceLine> lines;
  Dwarf_Attribute attribute;
  const char* const folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
  if (Dwarf_Line* const row = dwarf_getsrc_die(&unit, address); row != nullptr) {
    int number = 0;
    dwarf_lineno(row, &number);
    lines.push_back(line_of(dwarf_linesrc(row, nullptr, nullptr), number, folder));
  }
  Dwarf_Files* files = nullptr;
  if (dwarf_getsrcfiles(&unit, &files, nullptr) != 0) return lines;
  for (auto& scope : Scopes(unit, address)) {
    if (dwarf_tag(&scope) != DW_TAG_inlined_subroutine) continue;
    const auto file = static_cast<std::size_t>(number_of(scope, DW_AT_call_file));
    lines.push_back(line_of(dwarf_filesrc(files, file, nullptr, nullptr),
                            number_of(scope, DW_AT_call_line), folder));
  }
  lines.erase(std::remove_if(lines.begin(), lines.end(),
                             [](const SourceLine& line) { return line.file.empty(); }),
              lines.end());
  return lines;
}

}  // namespace

class SourceLines::File {
 public:
  explicit File(ConstByteSpan file) : bytes_(file.data, file.data + file.size) {
    elf_version(EV_CURRENT);
    elf_ = elf_memory(reinterpret_cast<char*>(bytes_.data()), bytes_.size());
    if (elf_ != nullptr) dwarf_ = dwarf_begin_elf(elf_, DWARF_C_READ, nullptr);
  }
  ~File() {
    dwarf_end(dwarf_);
    elf_end(elf_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::vector<SourceLine> lines(Dwarf_Addr address) const {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    while (dwarf_ != nullptr &&
           dwarf_get_units(dwarf_, unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
      if (dwarf_haspc(&die, address) == 1) return lines_at(die, address);
    }
    return {};
  }

 private:
  std::vector<std::byte> bytes_;  // the library may write into them
  Elf* elf_ = nullptr;
  Dwarf* dwarf_ = nullptr;
};

SourceLines::SourceLines() = default;
SourceLines::~SourceLines() = default;

std::string SourceLines::of_calls(const std::vector<ProgramLoader::Place>& calls) {
  std::string text, last;
  for (const auto& call : calls) {
    if (call.file.size == 0 || call.offset == 0) break;
    auto& file = files_[call.file.data];
    if (!file) file = std::make_unique<File>(call.file);
    // Of the call, not of what is behind it.
    for (const auto& line : file->lines(call.offset - 1)) {
      if (line.file == last) {
        text += fmt::format(", {}", line.number);
        continue;
      }
      if (!last.empty() && !is_header(last)) return text;
      if (!last.empty()) text += " from ";
      text += fmt::format("{}:{}", line.file, line.number);
      last = line.file;
    }
  }
  return text;
}

}  // namespace npu::model
