// SPDX-License-Identifier: Apache-2.0
// Files of programs as the host has them, with the sections that are not uploaded: lines of their
// sources, above all.
#pragma once

#include <deque>
#include <vector>

#include "npu/base/byte_span.hpp"

namespace npu::model {

class ProgramFiles {
 public:
  // Somebody asks for lines: files are kept from now on. Not so at first.
  void enable() { enabled_ = true; }
  void note(ConstByteSpan file);
  // The file of what is `object` as far as it is loaded, for as long as this is there; empty: none.
  ConstByteSpan find(ConstByteSpan object) const;

 private:
  bool enabled_ = false;
  std::deque<std::vector<std::byte>> files_;
};

}  // namespace npu::model
