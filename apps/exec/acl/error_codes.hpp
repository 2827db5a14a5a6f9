// SPDX-License-Identifier: Apache-2.0
// The C API's error codes (docs/sources/acl.md L3) and what the driver's errors are there.
#pragma once

#include "npu/base/result.hpp"

namespace npu::exec::acl {

inline constexpr int kSuccess = 0;
inline constexpr int kInvalidParameter = 100000;
inline constexpr int kUninitialised = 100001;
inline constexpr int kRepeatInitialise = 100002;
inline constexpr int kRepeatFinalise = 100037;
inline constexpr int kNotSupported = 200001;
inline constexpr int kRuntimeParameter = 107000;
inline constexpr int kInvalidDevice = 107001;
inline constexpr int kNoContext = 107002;
inline constexpr int kStreamContext = 107003;
inline constexpr int kStreamModel = 107005;
inline constexpr int kInvalidHandle = 107017;
inline constexpr int kWaitTimeout = 107019;
inline constexpr int kTaskTimeout = 107020;
inline constexpr int kSuspended = 107022;
inline constexpr int kCaptureDependency = 107024;
inline constexpr int kStreamUnjoined = 107025;
inline constexpr int kModelCaptured = 107026;
inline constexpr int kStreamCaptured = 107027;
inline constexpr int kEventCaptured = 107028;
inline constexpr int kStreamNotCaptured = 107029;
inline constexpr int kCaptureMode = 107030;
inline constexpr int kCaptureDefault = 107031;
inline constexpr int kCaptureConflict = 107032;
inline constexpr int kTaskGroupStatus = 107033;
inline constexpr int kTaskGroupBroken = 107034;
inline constexpr int kCaptureUnmatched = 107036;
inline constexpr int kModelRunning = 107037;
inline constexpr int kCaptureThread = 107038;
inline constexpr int kFeature = 207000;
inline constexpr int kOutOfMemory = 207001;
inline constexpr int kNoResource = 207005;
inline constexpr int kNoEvent = 207007;
inline constexpr int kNoStream = 207008;
inline constexpr int kNoNotify = 207009;
inline constexpr int kQueueFull = 207014;
inline constexpr int kInternal = 507000;
inline constexpr int kCoreTimeout = 507014;
inline constexpr int kCoreException = 507015;
inline constexpr int kVectorException = 507035;
inline constexpr int kStreamTimeout = 507046;
inline constexpr int kEventTimeout = 507047;
inline constexpr int kHbmError = 507054;
inline constexpr int kRemote = 507057;
inline constexpr int kDriver = 507899;
inline constexpr int kCaptureInvalid = 507903;
inline constexpr int kSnapshotBackup = 507908;
inline constexpr int kSnapshotRestore = 507909;

constexpr int code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kOutOfRange:
    case ErrorCode::kMisaligned:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kBusy:
    case ErrorCode::kPermissionDenied:
      return kRuntimeParameter;
    case ErrorCode::kOutOfMemory:
      return kOutOfMemory;
    case ErrorCode::kOutOfResources:
      return kNoResource;
    case ErrorCode::kQueueFull:
      return kQueueFull;
    case ErrorCode::kUnsupported:
      return kFeature;
    default:
      return kDriver;
  }
}

}  // namespace npu::exec::acl
