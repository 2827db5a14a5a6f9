// SPDX-License-Identifier: Apache-2.0
// Which bytes of lines that were not read from the HBM have been written.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/l2/line_store.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class WrittenBytes {
 public:
  // Lines of `line` bytes, a multiple of 64; 0: there will be none.
  explicit WrittenBytes(Bytes line) : words_(line / kOfWord) {}

  // `count` bytes behind the first `offset` ones of the line are there, which it may be new to.
  // True: now all of them are, and the line is forgotten.
  bool add(Line line, Bytes offset, Bytes count);
  // Whether those bytes of a line that was added are all there.
  bool has(Line line, Bytes offset, Bytes count) const;
  void forget(Line line);
  void forget(Line first, Line last);  // those that are known

 private:
  static constexpr Bytes kOfWord = 64;  // bits

  const Bytes words_;  // of a line
  std::unordered_map<Line, std::size_t> places_;
  std::vector<std::uint64_t> words_of_;  // a bit for each byte
  std::vector<std::size_t> free_;        // places in it
};

}  // namespace npu::model
