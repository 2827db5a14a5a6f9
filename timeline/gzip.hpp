// SPDX-License-Identifier: Apache-2.0
// Compresses what is appended to it (RFC 1952), at the fastest level: a timeline is written while
// the simulation waits. The header has no time, so that the same input gives the same bytes.
#pragma once

#include <zlib.h>

#include <vector>

#include "timeline/byte_sink.hpp"

namespace npu::timeline {

class Gzip : public ByteSink {
 public:
  explicit Gzip(ByteSink& out);
  ~Gzip() override;
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  Status append(ConstByteSpan bytes) override { return deflate_all(bytes, Z_NO_FLUSH); }
  Status finish() override;

 private:
  Status deflate_all(ConstByteSpan bytes, int flush);

  ByteSink& out_;
  z_stream stream_{};
  std::vector<std::byte> buffer_;
};

}  // namespace npu::timeline
