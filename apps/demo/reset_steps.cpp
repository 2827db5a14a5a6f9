// SPDX-License-Identifier: Apache-2.0
// A function level reset in the middle of copies, and the card taken away.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "apps/demo/pattern.hpp"
#include "apps/demo/steps.hpp"

namespace npu::demo {
namespace {

using driver::DmaCommand;
using driver::WaitPolicy;

constexpr Bytes kBlock = 4_MiB;
constexpr unsigned kFirstBatch = 16, kLargestBatch = 256;
constexpr unsigned kQuiet = 0x3C;
constexpr Picoseconds kGivenUp = 1_s;  // for commands that a reset has taken away
constexpr Picoseconds kAtOnce = 5_s;   // calls on a lost card look at no register
constexpr Picoseconds kRetry = 100_ms;

struct Interrupted {
  Error error;         // what the wait said
  unsigned submitted;  // copies in flight when the reset came
};

// Nothing if all copies were done before the reset.
Result<std::optional<Interrupted>> reset_among(Session& session, platform::BusAddress target,
                                               driver::DeviceAddress source, unsigned copies) {
  auto& device = session.device();
  Result<driver::Ticket> last = fail(ErrorCode::kInvalidArgument, "no copies");
  for (unsigned i = 0; i < copies; ++i) {
    last = device.submit(session.stream(), DmaCommand::device_to_host(source, target, kBlock));
    if (!last) return forward_error(last);
  }
  const auto bdf = device.info().bdf();
  if (auto ok = session.platform().reset_function(bdf); !ok) return forward_error(ok);
  const auto deadline = session.platform().clock().now() + kGivenUp;
  const auto outcome = device.wait(*last, WaitPolicy::kPolling, deadline);
  if (outcome) return std::optional<Interrupted>();
  return std::optional<Interrupted>({outcome.error(), copies});
}

// The driver's copies of registers are worth nothing now: what was in flight is given up, and the
// card is opened anew.
Status open_again(Session& session) {
  static_cast<void>(session.device().reset_queue());
  session.close();
  return session.open();
}

}  // namespace

Result<std::string> reset_during_copy(Session& session) {
  for (unsigned copies = kFirstBatch; copies <= kLargestBatch; copies *= 4) {
    const auto host = session.device().allocate_host(kBlock);
    if (!host) return forward_error(host);
    const auto memory = session.device().allocate(kBlock);
    if (!memory) return forward_error(memory);
    const auto stopped = reset_among(session, (*host)->bus(), memory->address, copies);
    if (!stopped) return forward_error(stopped);
    fill_value((*host)->cpu(), kQuiet);
    if (auto ok = open_again(session); !ok) return forward_error(ok);
    if (auto ok = session.round_trip(copies); !ok) return forward_error(ok);
    const auto since = session.device_time();
    if (!since) return forward_error(since);
    // The memory is still mapped: a copy that had gone on would have been seen here.
    auto ok = check_value((*host)->cpu(), kQuiet, "written after the reset");
    if (!ok) return forward_error(ok);
    if (!*stopped) continue;
    return fmt::format(
        "{} copies of {} B in flight: \"{}\"; opened again, works; {} ns since the "
        "reset",
        (*stopped)->submitted, kBlock, (*stopped)->error.message(), *since);
  }
  return fail(ErrorCode::kBadDevice, "every copy was done before the reset");
}

namespace {

// Copies until one fails.
Result<Error> work_until_error(Session& session, std::uint64_t& done) {
  const auto host = session.device().allocate_host(1_MiB);
  if (!host) return host.error();
  const auto memory = session.device().allocate(1_MiB);
  if (!memory) return memory.error();
  const WaitPolicy policies[] = {WaitPolicy::kPolling, WaitPolicy::kInterrupt,
                                 WaitPolicy::kAdaptive};
  const auto limit = session.deadline();
  for (done = 0; session.platform().clock().now() < limit; ++done) {
    const auto in = DmaCommand::host_to_device((*host)->bus(), memory->address, 1_MiB);
    const auto status =
        session.device().copy(session.stream(), in, policies[done % 3], limit + kGivenUp);
    if (!status) return status.error();
  }
  return fail(ErrorCode::kTimeout, fmt::format("the card is still there after {} copies", done));
}

// Everything says so, at once.
Status expect_lost(Session& session) {
  auto& device = session.device();
  auto& clock = session.platform().clock();
  const auto begin = clock.now();
  if (!device.lost()) return fail(ErrorCode::kBadDevice, "lost() is false");
  const auto lost = [](const auto& result) {
    return !result && result.error().code == ErrorCode::kDeviceLost;
  };
  const auto nowhere = DmaCommand::host_to_device({0}, {0}, 4);
  if (!lost(device.submit(session.stream(), nowhere)) || !lost(device.take_fault()) ||
      !lost(device.create_stream()) || !lost(device.allocate_host(4_KiB)) ||
      !lost(device.reset_queue())) {
    return fail(ErrorCode::kBadDevice, "a call did not say that the card is lost");
  }
  session.close();
  if (clock.now() - begin > kAtOnce) {
    return fail(ErrorCode::kTimeout, "calls on a lost card took their time");
  }
  return {};
}

struct Loss {
  std::uint64_t copies = 0;  // before it
  std::string message;
};

// Works until the driver says that the card is lost, and gives everything back.
Result<Loss> lose_card(Session& session) {
  Loss loss;
  const auto error = work_until_error(session, loss.copies);
  if (!error) return forward_error(error);
  if (error->code != ErrorCode::kDeviceLost) {
    return fail(ErrorCode::kBadDevice, "the driver says \"" + error->message() + "\"");
  }
  loss.message = error->message();
  if (auto ok = expect_lost(session); !ok) return forward_error(ok);
  return loss;
}

}  // namespace

Result<std::string> removal(Session& session) {
  const auto bdf = session.device().info().bdf();
  const auto loss = lose_card(session);
  if (!loss) return forward_error(loss);
  const auto again = driver::Device::open(session.platform(), bdf);
  if (again) return fail(ErrorCode::kBadDevice, "the card could be opened again");
  return fmt::format("after {} copies: \"{}\"; all calls say so at once; opening it again: \"{}\"",
                     loss->copies, loss->message, again.error().message());
}

Result<std::string> recovery(Session& session) {
  const auto loss = lose_card(session);
  if (!loss) return forward_error(loss);
  auto& clock = session.platform().clock();
  const auto deadline = session.deadline();
  auto opened = session.open();
  while (!opened && clock.now() < deadline) {  // the system may be at it still
    clock.sleep_until(clock.now() + kRetry);
    opened = session.open();
  }
  if (!opened) return forward_error(opened);
  if (auto ok = session.round_trip(loss->copies); !ok) return forward_error(ok);
  return fmt::format("after {} copies: \"{}\"; all calls say so at once; opened again, works",
                     loss->copies, loss->message);
}

}  // namespace npu::demo
