// SPDX-License-Identifier: Apache-2.0
// Errors as values. Every fallible call of driver, firmware and platform returns Result<T>.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace npu {

enum class ErrorCode {
  kInvalidArgument,   // the caller's fault; retrying the same call cannot help
  kOutOfRange,        // an offset, index or size beyond what the object has
  kMisaligned,        // an address or size that breaks a stated alignment
  kNotFound,          // no such device, window, event
  kAlreadyExists,     // the id, slot or mapping is taken
  kBusy,              // still in use: mappings, streams; retry after giving those up
  kOutOfMemory,       // device or host memory; context says requested, free, largest block
  kOutOfResources,    // ids, vectors, windows, tasks exhausted
  kQueueFull,         // the ring stayed full for the whole bounded retry
  kTimeout,           // a deadline passed; context says what was waited for
  kDeviceLost,        // all-ones reads: surprise removal or link down
  kDeviceFault,       // the device completed the work with a fault code
  kUnsupported,       // the device or platform does not offer this
  kBadDevice,         // configuration space or registers make no sense
  kPermissionDenied,  // the operating system or the IOMMU refuses
  kIo,                // a system call failed; context carries errno's text
  kAborted,           // given up by a reset of the queue before or while it was waited for
  kWrongData,         // all went well, and what came of it is not what was expected
};

// Stable, lower-case, e.g. "queue full".
constexpr std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kOutOfRange:
      return "out of range";
    case ErrorCode::kMisaligned:
      return "misaligned";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kAlreadyExists:
      return "already exists";
    case ErrorCode::kBusy:
      return "busy";
    case ErrorCode::kOutOfMemory:
      return "out of memory";
    case ErrorCode::kOutOfResources:
      return "out of resources";
    case ErrorCode::kQueueFull:
      return "queue full";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kDeviceLost:
      return "device lost";
    case ErrorCode::kDeviceFault:
      return "device fault";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kBadDevice:
      return "bad device";
    case ErrorCode::kPermissionDenied:
      return "permission denied";
    case ErrorCode::kIo:
      return "input/output error";
    case ErrorCode::kAborted:
      return "aborted";
    case ErrorCode::kWrongData:
      return "wrong data";
  }
  return "unknown error";
}

struct Error {
  ErrorCode code;
  std::string context;  // one line, no trailing full stop: what was tried, with which values

  std::string message() const {
    std::string text(to_string(code));
    return context.empty() ? text : text + ": " + context;
  }
};

// A value or an error. Whoever calls looks at it, or says (void) and why.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  using Base::operator=;
  Result() = default;
  Result(Base base) : Base(std::move(base)) {}  // what map() and and_then() return
};
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string context = {}) {
  return tl::unexpected<Error>(Error{code, std::move(context)});
}

// Hands an error on to the caller of the present function.
template <class T>
tl::unexpected<Error> forward_error(const Result<T>& failed) {
  return tl::unexpected<Error>(failed.error());
}

}  // namespace npu
