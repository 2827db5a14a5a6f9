// SPDX-License-Identifier: Apache-2.0
// Lines of sources, by what compilers write beside the code (DWARF).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "model/core/program_loader.hpp"

namespace npu::model {

class SourceLines {
 public:
  SourceLines();
  ~SourceLines();
  SourceLines(const SourceLines&) = delete;
  SourceLines& operator=(const SourceLines&) = delete;

  // Where the author of a program wrote the call that returns to `place`: "FILE:LINE", and
  // " from FILE:LINE, LINE" if that was inlined into another file, with the calls in that. Neither
  // names a header of npusim or of the system. Files are named as the compiler was told to name
  // them (-fdebug-prefix-map); of a path of the machine only the name. Empty: the program's file
  // does not say.
  std::string of_call(const ProgramLoader::Place& place);

 private:
  class File;

  std::map<const std::byte*, std::unique_ptr<File>> files_;  // by their bytes
};

}  // namespace npu::model
