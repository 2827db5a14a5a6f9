// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/gzip.hpp"

#include <algorithm>

namespace npu::timeline {

Gzip::Gzip(ByteSink& out)
    : out_(out), stream_(std::make_unique<isal_zstream>()), buffer_(std::size_t{256} << 10) {
  isal_deflate_init(stream_.get());
  stream_->gzip_flag = IGZIP_GZIP;
}

// Every byte, length and distance has a code in it, however rare.
void Gzip::make_code(ConstByteSpan bytes) {
  constexpr std::size_t kEnough = std::size_t{1} << 20;
  auto counts = std::make_unique<isal_huff_histogram>();
  auto* const first = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(bytes.data));
  isal_update_histogram(first, static_cast<int>(std::min(bytes.size, kEnough)), counts.get());
  code_ = std::make_unique<isal_hufftables>();
  if (isal_create_hufftables(code_.get(), counts.get()) == 0) stream_->hufftables = code_.get();
}

Status Gzip::append(ConstByteSpan bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // the library counts in 32 bits
  if (!code_ && bytes.size != 0) make_code(bytes);
  while (bytes.size != 0) {
    const std::size_t now = std::min(bytes.size, kMost);
    // It does not write to its input.
    stream_->next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(bytes.data));
    stream_->avail_in = static_cast<std::uint32_t>(now);
    bytes = {bytes.data + now, bytes.size - now};
    if (auto ok = deflate_all(); !ok) return ok;
  }
  return {};
}

// Until there is no input left, nor output that waits for room.
Status Gzip::deflate_all() {
  do {
    stream_->next_out = reinterpret_cast<std::uint8_t*>(buffer_.data());
    stream_->avail_out = static_cast<std::uint32_t>(buffer_.size());
    if (isal_deflate(stream_.get()) != COMP_OK) {
      return fail(ErrorCode::kIo, "the compressor refuses its input");
    }
    const std::size_t made = buffer_.size() - stream_->avail_out;
    if (made == 0) continue;
    if (auto ok = out_.append({buffer_.data(), made}); !ok) return ok;
  } while (stream_->avail_out == 0);
  return {};
}

Status Gzip::finish() {
  stream_->end_of_stream = 1;
  stream_->avail_in = 0;
  if (auto ok = deflate_all(); !ok) return ok;
  return out_.finish();
}

}  // namespace npu::timeline
