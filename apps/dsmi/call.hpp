// SPDX-License-Identifier: Apache-2.0
// What every function of the C interfaces does around its own part.
#pragma once

#include <exception>

#include "apps/dsmi/session.hpp"

namespace npu::dsmi {

inline int code_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kUnsupported:
      return DSMI_ERROR_NOT_SUPPORT;
    case ErrorCode::kDeviceLost:
      return DSMI_ERROR_INVALID_DEVICE;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kOutOfRange:
      return DSMI_ERROR_PARAMETER;
    case ErrorCode::kNotFound:
      return DSMI_ERROR_NOT_EXIST;
    case ErrorCode::kOutOfResources:
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kAlreadyExists:
      return DSMI_ERROR_NO_RESOURCES;
    case ErrorCode::kBusy:
      return DSMI_ERROR_BUSY;
    case ErrorCode::kTimeout:
      return DSMI_ERROR_TIMEOUT;
    default:
      return DSMI_ERROR_INTERNAL;
  }
}

class SessionLock {
 public:
  explicit SessionLock(Session& session) : mutex_(session.mutex()) { mutex_.lock(); }
  ~SessionLock() { mutex_.unlock(); }
  SessionLock(const SessionLock&) = delete;
  SessionLock& operator=(const SessionLock&) = delete;

 private:
  platform::Mutex& mutex_;
};

// `body(session)` gives a code; of what it throws, one that says so.
template <class Body>
int in_session(Body body) {
  try {
    Session* const session = current_session();
    if (session == nullptr) return DSMI_ERROR_NO_DEVICE;
    return body(*session);
  } catch (const std::exception&) {
    return DSMI_ERROR_INTERNAL;
  }
}

// `body(session, card)` of a device, with the lock.
template <class Id, class Body>
int on_card(Id device, Body body) {
  return in_session([&](Session& session) -> int {
    if (device < Id{} || static_cast<std::size_t>(device) >= session.count()) {
      return DSMI_ERROR_INVALID_DEVICE;
    }
    const SessionLock lock(session);
    return body(session, session.card(static_cast<std::size_t>(device)));
  });
}

// The code of a result; a value goes to `use` first.
template <class T, class Use>
int give(const Result<T>& result, Use use) {
  if (!result) return code_of(result.error());
  use(*result);
  return DSMI_OK;
}
inline int give(const Status& status) {
  return status ? DSMI_OK : code_of(status.error());
}

}  // namespace npu::dsmi
