// SPDX-License-Identifier: Apache-2.0
// What is wrong with a configuration, as a value.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace npu::model {

struct ConfigError {
  std::string file;        // as the user can open it, or "--set key=value"
  int line = 0;            // from 1; 0: no place inside `file`
  int column = 0;          // from 1
  std::string key;         // dotted, "pci.bar0_size_kib"; empty: not about one key
  std::string problem;     // what is wrong when found/allowed do not say it all
  std::string found;       // what stands there; empty: nothing to show
  std::string allowed;     // what may stand there
  std::string suggestion;  // nearest valid name

  // "file:line:column: key: problem; found X; allowed: Y; did you mean 'Z'?", exactly one line.
  std::string message() const;
};

template <class T>
using ConfigResult = tl::expected<T, ConfigError>;

}  // namespace npu::model
