// SPDX-License-Identifier: Apache-2.0
// Compresses what is appended to it (RFC 1952) with ISA-L, at the fastest level: a timeline is
// written while the simulation waits. Its code is made for the bytes that come first, as all of a
// timeline is alike. The header has no time, so that the same input gives the same bytes on
// machines with the same instructions.
#pragma once

#include <isa-l/igzip_lib.h>

#include <memory>
#include <vector>

#include "tools/timeline/byte_sink.hpp"

namespace npu::timeline {

class Gzip : public ByteSink {
 public:
  explicit Gzip(ByteSink& out);
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  Status append(ConstByteSpan bytes) override;
  Status finish() override;

 private:
  void make_code(ConstByteSpan bytes);
  Status deflate_all();

  ByteSink& out_;
  std::unique_ptr<isal_zstream> stream_;  // large
  std::unique_ptr<isal_hufftables> code_;
  std::vector<std::byte> buffer_;
};

}  // namespace npu::timeline
