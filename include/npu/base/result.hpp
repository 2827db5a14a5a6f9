// SPDX-License-Identifier: Apache-2.0
// Errors as values. Every call of driver, firmware and platform that can fail returns Result<T>.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace npu {

enum class ErrorCode {
  kInvalidArgument,   // an error of the caller, or a closed object; do not repeat the call
  kOutOfRange,        // an offset, index or size beyond the object
  kMisaligned,        // an address or size without the required alignment
  kNotFound,          // no such device, window, event
  kAlreadyExists,     // the id, slot or mapping is in use
  kBusy,              // mappings, streams or queues still use it; repeat the call without them
  kOutOfMemory,       // device or host memory; the context has the requested and free bytes
  kOutOfResources,    // no ids, vectors, windows or tasks left
  kQueueFull,         // the ring stayed full until the deadline
  kTimeout,           // a deadline passed; the context names the condition
  kDeviceLost,        // the card answers nothing: surprise removal or link down
  kDeviceFault,       // the device completed the work with a fault code
  kUnsupported,       // the device or platform does not offer this, or it is switched off
  kBadDevice,         // configuration space or registers make no sense, or the card refused
  kPermissionDenied,  // the operating system, the IOMMU or the owner refuses
  kIo,                // a system call failed, or registers of a present card read as all ones
  kAborted,           // ended by a reset, a shutdown or a close
  kWrongData,         // no error occurred, but the result is not the expected one
};

// A stable name in lower case, such as "queue full".
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
  std::string context;  // one line without full stop: the attempt and its values

  std::string message() const {
    std::string text(to_string(code));
    return context.empty() ? text : text + ": " + context;
  }
};

// A value or an error. Callers must check it, or cast it to void with a reason.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  using Base::operator=;
  Result() = default;
  Result(Base base) : Base(std::move(base)) {}  // from map() and and_then()
};
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string context = {}) {
  return tl::unexpected<Error>(Error{code, std::move(context)});
}

// Returns an error to the caller of the present function.
template <class T>
tl::unexpected<Error> forward_error(const Result<T>& failed) {
  return tl::unexpected<Error>(failed.error());
}

}  // namespace npu
