// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/streams.hpp"

#include <utility>

namespace npu::exec::acl {
namespace {

// What a program is told of a fault of its stream.
tl::unexpected<Fault> told(ProgramStream& stream, const driver::LaunchFault& found) {
  stream.failed = found.fault ? found.fault->index : 0;
  const bool on_cube = found.cores == driver::LaunchCores::kCube;
  int code = kDriver;
  if (found.fault && found.fault->code == abi::FaultCode::kPoisoned) {
    code = kHbmError;
  } else if (found.fault && found.fault->code == abi::FaultCode::kTaskTimeout) {
    code = kCoreTimeout;
  } else if (found.fault && found.fault->core) {
    code = on_cube ? kCoreException : kVectorException;
  }
  return fault(code, found.text);
}

}  // namespace

tl::unexpected<Fault> submission_fault(const Error& error) {
  if (error.code == ErrorCode::kAborted) return fault(kInvalidHandle, error.message());
  return fault(error);
}

namespace {

// What has ended early, told once.
Outcome unbroken(ProgramStream& stream) {
  if (stream.broken.empty()) return {};
  return fault(kInternal, std::exchange(stream.broken, {}));
}

constexpr std::size_t kMostLimited = 64;

// A wait that has taken longer than it may, told once. All have ended.
Outcome in_time(ProgramStream& stream) {
  for (const auto& wait : std::exchange(stream.limited, {})) {
    if (!wait.query()) return fault(kTaskTimeout, "a wait of the stream's has taken too long");
  }
  return {};
}

}  // namespace

void add_limited(ProgramStream& stream, driver::StreamMark wait) {
  auto& all = stream.limited;
  if (all.size() >= kMostLimited) {
    const auto is_met = [](const driver::StreamMark& each) {
      const auto done = each.query();
      return done && *done;
    };
    all.erase(std::remove_if(all.begin(), all.end(), is_met), all.end());
  }
  all.push_back(std::move(wait));
}

Outcome synchronize(ProgramStream& stream, Instant deadline, int late) {
  if (auto whole = unbroken(stream); !whole) return whole;
  const auto last = stream.watched.last;
  const auto ended = stream.stream->synchronize(deadline);
  if (!ended && ended.error().code == ErrorCode::kTimeout) {
    return fault(late, ended.error().message());
  }
  stream.watched.known(last);
  if (!ended) return submission_fault(ended.error());
  if (*ended) return told(stream, **ended);
  if (auto whole = unbroken(stream); !whole) return whole;
  if (auto met = in_time(stream); !met) return met;
  for (const auto& helper : std::exchange(stream.helpers, {})) {
    if (auto done = synchronize(*helper, deadline, late); !done) return done;
  }
  return {};
}

Value<bool> is_done(ProgramStream& stream) {
  const auto state = stream.stream->query();
  if (!state) return submission_fault(state.error());
  if (state->done) stream.watched.known(stream.watched.last);
  if (state->fault) return told(stream, *state->fault);
  if (state->done) {
    if (auto met = in_time(stream); !met) return forward_fault(met);
  }
  return state->done;
}

}  // namespace npu::exec::acl
