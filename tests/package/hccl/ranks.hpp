// SPDX-License-Identifier: Apache-2.0
// What programs with ranks have in common: checks, elements of every type, a rank with its stream.
#pragma once

#include <hccl/hccl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define EXPECT(code, call)                                                                      \
  do {                                                                                          \
    const int got_ = static_cast<int>(call);                                                    \
    if (got_ != static_cast<int>(code)) {                                                       \
      std::fprintf(stderr, "%s:%d: %s: %d, expected %d: %s\n", __FILE__, __LINE__, #call, got_, \
                   static_cast<int>(code), aclGetRecentErrMsg());                               \
      std::exit(1);                                                                             \
    }                                                                                           \
  } while (0)
#define OK(call) EXPECT(0, call)
#define REQUIRE(what)                                                         \
  do {                                                                        \
    if (!(what)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      std::exit(1);                                                           \
    }                                                                         \
  } while (0)

inline unsigned size_of(HcclDataType type) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
    case HCCL_DATA_TYPE_UINT8:
      return 1;
    case HCCL_DATA_TYPE_INT16:
    case HCCL_DATA_TYPE_UINT16:
    case HCCL_DATA_TYPE_FP16:
    case HCCL_DATA_TYPE_BFP16:
      return 2;
    case HCCL_DATA_TYPE_INT64:
    case HCCL_DATA_TYPE_UINT64:
    case HCCL_DATA_TYPE_FP64:
      return 8;
    default:
      return 4;
  }
}

inline bool can_reduce(HcclDataType type) {
  return type <= HCCL_DATA_TYPE_FP32 || type == HCCL_DATA_TYPE_BFP16;
}

template <class T>
void put(void* to, int value) {
  const T typed = static_cast<T>(value);
  std::memcpy(to, &typed, sizeof typed);
}

// A small whole number as an element: bits of floats are put together here, not by the model.
inline void encode(HcclDataType type, int value, void* to) {
  const float wide = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &wide, sizeof bits);
  const std::uint32_t sign = bits >> 31, exponent = bits >> 23 & 0xFF;
  switch (type) {
    case HCCL_DATA_TYPE_FP32:
      return put<float>(to, value);
    case HCCL_DATA_TYPE_FP64:
      return put<double>(to, value);
    case HCCL_DATA_TYPE_BFP16:
      return put<std::uint16_t>(to, static_cast<int>(bits >> 16));
    case HCCL_DATA_TYPE_FP16: {
      const std::uint32_t half = exponent == 0 ? 0 : (exponent - 112) << 10 | (bits >> 13 & 0x3FF);
      return put<std::uint16_t>(to, static_cast<int>(sign << 15 | half));
    }
    default:
      break;
  }
  const std::int64_t whole = value;
  std::memcpy(to, &whole, size_of(type));  // little endian, and two's complement
}

class Elements {
 public:
  Elements(HcclDataType type, std::size_t count) : type_(type), bytes_(count * size_of(type)) {}
  void set(std::size_t at, int value) { encode(type_, value, &bytes_[at * size_of(type_)]); }
  bool operator==(const Elements& other) const { return bytes_ == other.bytes_; }
  std::size_t count() const { return bytes_.size() / size_of(type_); }
  HcclDataType type() const { return type_; }
  std::size_t bytes() const { return bytes_.size(); }
  void* data() { return bytes_.data(); }
  const void* data() const { return bytes_.data(); }

 private:
  HcclDataType type_;
  std::vector<std::uint8_t> bytes_;
};

// A rank on the device of its number.
class Rank {
 public:
  static constexpr std::size_t kRoom = std::size_t{1} << 20;

  Rank(HcclComm comm, unsigned device) : comm(comm) {
    OK(aclrtSetDevice(static_cast<int32_t>(device)));
    OK(HcclGetRankId(comm, &number));
    OK(HcclGetRankSize(comm, &ranks));
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&from, kRoom, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&to, kRoom, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  void end() {
    OK(aclrtFree(from));
    OK(aclrtFree(to));
    OK(aclrtDestroyStream(stream));
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  void send(const Elements& elements) const {
    OK(aclrtMemcpy(from, kRoom, elements.data(), elements.bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemset(to, kRoom, 0x55, elements.bytes() * (ranks + 1)));
  }
  // When the stream has ended its work.
  bool got(const void* memory, const Elements& wanted) const {
    Elements found(wanted.type(), wanted.count());
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(found.data(), found.bytes(), memory, found.bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
    return found == wanted;
  }

  HcclComm comm;
  unsigned number = 0, ranks = 0;
  aclrtStream stream = nullptr;
  void *from = nullptr, *to = nullptr;
};
