// SPDX-License-Identifier: Apache-2.0
// What may stand where the cursor is on a command line of npusim.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace npu::cli {

struct Candidates {
  std::vector<std::string>
      words;             // whole words, in order; the one at the cursor is their beginning
  bool files = false;    // or the name of a file
  bool folders = false;  // or of a folder
  bool go_on = false;    // a word is not at its end: no blank behind it
};

// `words`: "npusim" and what follows; the last one is the word at the cursor, maybe empty.
Candidates complete(const std::vector<std::string>& words);

// Words that a shell has parted at '=' and ':' too, as bash does, as they stand on the line.
std::vector<std::string> joined(const std::vector<std::string>& parts);

}  // namespace npu::cli
