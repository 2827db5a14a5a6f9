// SPDX-License-Identifier: Apache-2.0
// What goes over the management socket of a running npusim (a stream socket of this machine): one
// request, one answer, in the byte order of the machine. Everything that the library works out, it
// works out of registers, here as anywhere.
#pragma once

#include <cstdint>

namespace npu::dsmi {

inline constexpr std::uint64_t kProtocolVersion = 1;

enum class Request : std::uint32_t {
  kHello = 1,     // value: the client's version. Answer: the number of cards
  kFunction = 2,  // Answer: packed BDF
  kRead4 = 3,     // a register of BAR0
  kRead8 = 4,
  kWrite4 = 5,  // of the telemetry block alone
  kWrite8 = 6,
  kReadConfig = 7,  // 4 bytes of configuration space
  kReadMemory = 8,  // 8 bytes of the card's memory
  // offset: a virtual function, or kTotals; value: a PartitionField. Answer: it, and without time;
  // of a function without a device kCores is 0.
  kReadPartition = 9,
  kTemplate = 10,  // offset, value: the name, 16 bytes, by which this client's kCreate is meant
  // Through the card's driver: value: a function, or kAnyFunction. Answer: a code of
  // dsmi_error_code.h, and behind it, shifted by 32, the function.
  kCreate = 11,
  kDestroy = 12,  // as kCreate; kAnyFunction: all of them
};

inline constexpr std::uint64_t kTotals = ~std::uint64_t{0};
inline constexpr std::uint64_t kAnyFunction = ~std::uint64_t{0};

enum class PartitionField : std::uint64_t {
  kCores,
  kAicpus,
  kMemory,
  kVpc,
  kJpegd,
  kJpege,
  kVenc,
  kVdec,
  kName0,  // 8 bytes each
  kName1,
  kGroup,  // ~0: it has cores of its own
  kToken,
  kTokenMax,
  kTaskTimeout,
  kVip,
  kFunction,   // packed BDF; ~0: it is not enabled
  kFunctions,  // of kTotals: how many there can be
  kFields
};

struct RequestMessage {
  Request request = Request::kHello;
  std::uint32_t card = 0;
  std::uint64_t offset = 0;
  std::uint64_t value = 0;
};
static_assert(sizeof(RequestMessage) == 24);

enum class Answer : std::uint32_t {
  kDone = 0,
  kRefused = 1,  // no such card, offset out of range or misaligned, another version
};

struct AnswerMessage {
  Answer answer = Answer::kDone;
  std::uint32_t reserved = 0;
  std::uint64_t value = 0;
};
static_assert(sizeof(AnswerMessage) == 16);

}  // namespace npu::dsmi
