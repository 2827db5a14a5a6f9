// SPDX-License-Identifier: Apache-2.0
// What calls ask for and what they are answered with: the shapes of messages. Which call has which
// is a row of calls.hpp. A message is whole words of a slot (wire.hpp), in the order of the C API's
// parameters. Here: what many calls have, devices, streams, events, kernels; the others:
// memory_messages.hpp, management.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu::compat::wire {

struct Nothing {};
struct Number {
  std::uint64_t number = 0;
};
// Of a context, stream, event, binary, function, or memory. Stream 0: the context's default one.
struct Handle {
  std::uint64_t handle = 0;
};
struct Device {
  std::int64_t device = 0;  // the machine's number
};
struct Text {
  std::uint64_t bytes = 0;  // of the window
};
struct DeviceAttribute {
  std::int64_t device = 0;
  std::uint64_t attribute = 0;  // aclrtDevAttr
};
struct Utilization {
  std::uint64_t cube = 0, vector = 0, aicpus = 0, memory = 0;  // percent
};

enum class PeerRequest : std::uint64_t { kCan, kEnable, kDisable };
struct PeerAccess {
  PeerRequest request = PeerRequest::kCan;
  std::int64_t device = 0;  // of kCan; else the one that the call is about
  std::int64_t peer = 0;
};

// --- Streams, events, functions of the program in a stream's order ------------------------------

// Milliseconds of a wait: for ever.
inline constexpr std::uint64_t kForEver = UINT64_MAX;

struct TimedWait {
  std::uint64_t handle = 0, milliseconds = 0;
};
struct StreamOptions {
  std::uint64_t priority = 0, flags = 0;
};
struct StreamWait {
  std::uint64_t stream = 0, event = 0;
  std::uint64_t external = 0;      // of a model: runs wait for the event itself
  std::uint64_t milliseconds = 0;  // 0: for ever
};
struct FailureMode {
  std::uint64_t stream = 0, stops = 0;
};
struct EventPlace {
  std::uint64_t event = 0, stream = 0;
  std::uint64_t external = 0;  // of a model: runs record the event itself
};
struct StreamInfo {
  std::uint64_t priority = 0, flags = 0;  // as it was created
  std::uint64_t number = 0, stops = 0;    // its failure mode
  std::uint64_t in_model = 0;             // it is captured, or a model is built of it
};
struct EventInfo {
  std::uint64_t number = 0, left = 0;  // how many more may be created
};
// What a thread was told of last.
struct FaultInfo {
  std::uint64_t task = 0, stream = 0, thread = 0, device = 0, code = 0;
};
struct NotifyWait {
  std::uint64_t notify = 0, stream = 0, milliseconds = 0;  // 0: for ever
};
// `everyone`: no program needs to be named.
struct NotifyShare {
  std::uint64_t notify = 0, everyone = 0;
};
struct ValueWork {
  std::uint64_t address = 0, value = 0, flag = 0, stream = 0;
};
struct EventPair {
  std::uint64_t start = 0, end = 0;
};
// Functions are of two kinds, each with subscriptions of its own: aclrtLaunchCallback()'s, and
// those of aclrtLaunchHostFunc(), which thread 0, the library's own, runs if no other has
// subscribed.
struct Subscription {
  std::uint64_t thread = 0, stream = 0;  // the program's own number of its thread
  std::uint64_t ends = 0, host = 0;
};
struct Callback {
  std::uint64_t function = 0, parameter = 0;
  std::uint64_t blocks = 0;  // the stream waits for it
  std::uint64_t stream = 0, host = 0;
};
struct ReportWait {
  std::uint64_t thread = 0, milliseconds = 0, host = 0;
};
struct DueCallback {
  std::uint64_t function = 0, parameter = 0;
  std::uint64_t waiting = 0;  // what Call::kCallbackDone is to be told; 0: nobody waits
};

// --- Work that is recorded ----------------------------------------------------------------------

struct CaptureStart {
  std::uint64_t stream = 0, mode = 0;  // aclmdlRICaptureMode
};
struct CaptureState {
  std::uint64_t status = 0, model = 0;  // aclmdlRICaptureStatus
};
struct UpdateStart {
  std::uint64_t stream = 0, group = 0;
};
struct ModelStart {
  std::uint64_t model = 0, stream = 0;
};
// Of a model that is built: from its streams' tasks, which say what is run.
struct ModelStream {
  std::uint64_t model = 0, stream = 0;
  std::uint64_t head = 0;  // it begins with the model
};
// A stream goes on with another one's tasks if the values in device memory are as they should be.
struct StreamSwitch {
  std::uint64_t left = 0, right = 0;           // addresses
  std::uint64_t condition = 0, long_long = 0;  // aclrtCondition; values of 8 bytes
  std::uint64_t target = 0, stream = 0;
};
struct StreamActivation {
  std::uint64_t active = 0, stream = 0;
};
struct LabelPlace {
  std::uint64_t label = 0, stream = 0;
};
struct LabelSwitch {
  std::uint64_t address = 0, count = 0, list = 0, stream = 0;
};
struct ConditionValue {
  std::uint64_t model = 0, value = 0;
  std::uint64_t assigns = 0;  // at the beginning of each run
};
struct ConditionTask {
  std::uint64_t condition = 0, type = 0;  // aclmdlRICondTaskType
  std::uint64_t branches = 0, stream = 0;
};
struct BranchCapture {
  std::uint64_t stream = 0, model = 0, mode = 0;
};
struct ModelTaskInfo {
  std::uint64_t type = 0, number = 0;  // aclmdlRITaskType
};

// --- Kernels ------------------------------------------------------------------------------------

// aclrtEngineType: cube 0, vector 1.
inline constexpr std::uint64_t kVectorCores = 1;
inline constexpr std::uint64_t kAnyCores = UINT64_MAX;  // nobody has said which

// The bytes, and a name's, are in the window.
struct Binary {
  std::uint64_t built_in = 0, bytes = 0, cores = 0;
};
struct FunctionName {
  std::uint64_t binary = 0, bytes = 0;
};
// The name is in the window. `cores`: cube 0, vector 1, both 2. `address`: of its code on the
// thread's device; 0: no device is set.
struct FunctionInfo {
  std::uint64_t binary = 0, cores = 0, address = 0, bytes = 0, name_bytes = 0, prints = 0;
};
// In the window for each parameter of a kernel: where it is in the arguments of a launch.
struct KernelParameter {
  std::uint32_t offset = 0, size = 0;
};
inline constexpr std::size_t kMostParameters = 128;
inline constexpr std::size_t kMostArguments = 4096;  // bytes
// In global memory of the thread's device.
struct Variable {
  std::uint64_t address = 0, size = 0;
};
// In the window: bytes of arguments, and behind them place holders (rtHostInputInfo_t).
// `arguments`: where they are in device memory; 0: in the window.
struct Launch {
  std::uint64_t function = 0, blocks = 0, stream = 0, cores = 0, bytes = 0, places = 0;
  std::uint64_t arguments = 0;
};
// Microseconds. A limit is a multiple of `unit`.
struct KernelTimeout {
  std::uint64_t limit = 0, unit = 0;
};
struct CoreLimit {
  std::uint64_t of_stream = 0, of = 0;  // the stream, or the device
  std::uint64_t kind = 0, cores = 0;    // aclrtDevResLimitType: cube 0, vector 1
};
struct StreamLimits {
  std::uint64_t stream = 0, ends = 0;
};

}  // namespace npu::compat::wire
