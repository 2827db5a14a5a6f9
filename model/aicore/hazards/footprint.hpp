// SPDX-License-Identifier: Apache-2.0
// Which bytes an instruction reads and writes, and in which memories.
#pragma once

#include <vector>

#include "model/aicore/pipe_queue.hpp"

namespace npu::model {

// Local buffers by their numbers, and global memory.
enum class Space : std::uint8_t { kL1, kL0a, kL0b, kL0c, kUb, kGlobal };
inline constexpr unsigned kSpaces = 6;

// Whose local buffer: that of the core, of the cube core of its cluster, of a vector core of it.
enum class Whose : std::uint8_t { kOwn, kCube, kVector0, kVector1 };

// Rows of bytes.
struct Extent {
  Space space = Space::kUb;
  bool write = false;
  std::uint64_t first = 0;
  Bytes rows = 1, row = 0, pitch = 0;
  Whose whose = Whose::kOwn;
};

// `coupled`: the core has cube and vector units, and no other core's buffers. Reads come first.
void footprint_of(const Instruction& instruction, bool cube, bool coupled,
                  std::vector<Extent>& extents);

}  // namespace npu::model
