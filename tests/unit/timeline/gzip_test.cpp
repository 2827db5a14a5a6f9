// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/gzip.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace npu::timeline {
namespace {

struct KeptBytes : ByteSink {
  Status append(ConstByteSpan more) override {
    if (text.size() + more.size > room) return fail(ErrorCode::kIo, "full");
    text.append(reinterpret_cast<const char*>(more.data), more.size);
    return {};
  }
  Status finish() override {
    ended = true;
    return {};
  }
  std::string text;
  std::size_t room = SIZE_MAX;
  bool ended = false;
};

ConstByteSpan bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string unpacked(std::string packed, std::size_t size) {
  std::string result(size + 1, '\0');
  inflate_state state{};
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;  // the checksum as well
  state.next_in = reinterpret_cast<std::uint8_t*>(packed.data());
  state.avail_in = static_cast<std::uint32_t>(packed.size());
  state.next_out = reinterpret_cast<std::uint8_t*>(result.data());
  state.avail_out = static_cast<std::uint32_t>(result.size());
  EXPECT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
  EXPECT_EQ(state.block_state, ISAL_BLOCK_FINISH);
  result.resize(result.size() - state.avail_out);
  return result;
}

std::string packed(const std::string& text, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  KeptBytes kept;
  Gzip gzip(kept);
  for (std::size_t at = 0; at < text.size();) {
    const auto piece = text.substr(at, random() % 100'000);
    EXPECT_TRUE(gzip.append(bytes_of(piece)));
    at += piece.size();
  }
  EXPECT_TRUE(gzip.finish());
  EXPECT_TRUE(kept.ended);
  return kept.text;
}

TEST(TimelineGzip, UnpacksToWhatWasAppended) {
  std::mt19937_64 random(5);
  for (const std::size_t size : {0, 1, 70'000, 600'000}) {
    for (const unsigned letters : {1, 30, 256}) {
      std::string text(size, '\0');
      for (auto& letter : text) letter = static_cast<char>(random() % letters);
      EXPECT_EQ(unpacked(packed(text, 6), size), text) << size << " " << letters;
    }
  }
}

TEST(TimelineGzip, HasTheSameBytesEveryTime) {
  const std::string text(300'000, 'x');
  EXPECT_EQ(packed(text, 7), packed(text, 7));
}

TEST(TimelineGzip, HandsOnTheErrorOfWhereItWrites) {
  std::mt19937_64 random(8);
  std::string text(500'000, '\0');
  for (auto& letter : text) letter = static_cast<char>(random());
  KeptBytes kept;
  kept.room = 100'000;
  Gzip gzip(kept);
  EXPECT_FALSE(gzip.append(bytes_of(text)));
}

}  // namespace
}  // namespace npu::timeline
