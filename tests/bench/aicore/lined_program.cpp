// SPDX-License-Identifier: Apache-2.0
// A program with hazards, whose file tells its lines.
#include "tests/bench/aicore/lined_program.hpp"

using namespace npu;

namespace {

// Called, not inlined.
__attribute__((noinline)) void store(platform::AicorePort& port) {
  platform::CopyOut copy;
  copy.from = {platform::LocalBuffer::kUb, 0};
  copy.to = port.call().arguments + 4096;
  copy.row_bytes = copy.from_pitch = test::kLinedBytes;
  port.issue(copy);  // the store
  static_cast<void>(port.call());
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int npu_aicore_main(platform::AicorePort& port) {
  port.set_flag(platform::Pipe::kMte2, platform::Pipe::kVector, 3);  // the flag
  test::load_lined(port);                                            // the call
  store(port);                                                       // the caller
  platform::Vector scaled;
  scaled.op = platform::VectorOp::kMuls;
  scaled.to = test::kLinedBytes;
  scaled.count = test::kLinedBytes / sizeof(float);
  port.issue(scaled);  // the vector
  port.pipe_barrier(platform::Pipe::kAll);
  return 0;
}
