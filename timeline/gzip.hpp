// SPDX-License-Identifier: Apache-2.0
// Compresses what is appended to it (RFC 1952) with ISA-L, at a fast level: a timeline is written
// while the simulation waits. The header has no time, so that the same input gives the same bytes
// on machines with the same instructions.
#pragma once

#include <isa-l/igzip_lib.h>

#include <memory>
#include <vector>

#include "timeline/byte_sink.hpp"

namespace npu::timeline {

class Gzip : public ByteSink {
 public:
  explicit Gzip(ByteSink& out);
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  Status append(ConstByteSpan bytes) override;
  Status finish() override;

 private:
  Status deflate_all();

  ByteSink& out_;
  std::unique_ptr<isal_zstream> stream_;  // of 80 KiB
  std::vector<std::uint8_t> tables_;
  std::vector<std::byte> buffer_;
};

}  // namespace npu::timeline
