// SPDX-License-Identifier: Apache-2.0
// Lines of sources, by what compilers write beside the code (DWARF).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/core/program_loader.hpp"

namespace npu::model {

class SourceLines {
 public:
  SourceLines();
  ~SourceLines();
  SourceLines(const SourceLines&) = delete;
  SourceLines& operator=(const SourceLines&) = delete;

  // Where the author of a program wrote a call, from the innermost place outwards: "FILE:LINE, LINE
  // from FILE:LINE", as far as the first source file that is no header. Headers of npusim and of
  // the system are left out. `calls`: what the call, its caller and so on return to. Files are
  // named as the compiler was told to name them (-fdebug-prefix-map); of a path of the machine only
  // the name. Empty: the program's file does not say.
  std::string of_calls(const std::vector<ProgramLoader::Place>& calls);

 private:
  class File;

  std::map<const std::byte*, std::unique_ptr<File>> files_;  // by their bytes
};

}  // namespace npu::model
