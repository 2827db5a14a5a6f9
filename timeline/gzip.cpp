// SPDX-License-Identifier: Apache-2.0
#include "timeline/gzip.hpp"

#include <algorithm>
#include <new>

namespace npu::timeline {

Gzip::Gzip(ByteSink& out) : out_(out), buffer_(std::size_t{64} << 10) {
  constexpr int kGzipHeader = 16, kWindowBits = 15, kMemoryLevel = 8;
  if (deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kGzipHeader + kWindowBits, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

Gzip::~Gzip() {
  deflateEnd(&stream_);
}

Status Gzip::deflate_all(ConstByteSpan bytes, int flush) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // zlib counts in unsigned int
  do {
    const std::size_t now = std::min(bytes.size, kMost);
    // zlib does not write to its input, but says so only if ZLIB_CONST is defined everywhere.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data));
    stream_.avail_in = static_cast<uInt>(now);
    bytes = {bytes.data + now, bytes.size - now};
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      deflate(&stream_, flush);
      const std::size_t made = buffer_.size() - stream_.avail_out;
      if (made == 0) break;
      if (auto ok = out_.append({buffer_.data(), made}); !ok) return ok;
    } while (stream_.avail_out == 0);
  } while (bytes.size != 0);
  return {};
}

Status Gzip::finish() {
  if (auto ok = deflate_all({}, Z_FINISH); !ok) return ok;
  return out_.finish();
}

}  // namespace npu::timeline
