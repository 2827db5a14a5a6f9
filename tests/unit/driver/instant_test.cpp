// SPDX-License-Identifier: Apache-2.0
// Instants and durations are two types: what must not compile does not, and what is computed ends
// at the ends of the range.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "npu/base/units.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/queue.hpp"
#include "npu/driver/signal.hpp"
#include "npu/platform/time.hpp"
#include "npu/platform/trace.hpp"

namespace npu {
namespace {

template <class T>
T& any();  // only named in what is not evaluated

// Calls, by their deadline.
template <class Time>
using Relax = decltype(any<platform::Clock>().relax({}, any<const Time>()));
template <class Time>
using SleepUntil = decltype(any<platform::Clock>().sleep_until(any<const Time>()));
template <class Time>
using WaitBeyond = decltype(any<platform::InterruptVector>().wait_after(0, any<const Time>()));
template <class Time>
using TryLockUntil = decltype(any<platform::Mutex>().try_lock_until(any<const Time>()));
template <class Time>
using WaitCondition =
    decltype(any<platform::Condition>().wait(any<platform::Mutex>(), any<const Time>()));
template <class Time>
using DestroyStream = decltype(any<driver::Device>().destroy_stream({}, any<const Time>()));
template <class Time>
using WaitTicket = decltype(any<driver::Device>().wait({}, {}, any<const Time>()));
template <class Time>
using Copy = decltype(any<driver::Device>().copy({}, {}, {}, any<const Time>()));
template <class Time>
using SubmitOne =
    decltype(any<driver::Queue>().submit(any<const abi::QueueEntry>(), any<const Time>()));
template <class Time>
using SubmitSome = decltype(any<driver::Queue>().submit(any<const abi::QueueEntry* const>(), 1,
                                                        any<const Time>()));
template <class Time>
using WaitQueue = decltype(any<driver::Queue>().wait({}, {}, any<const Time>()));
template <class Time>
using DestroyQueue =
    decltype(any<driver::ProcessContext>().destroy(any<driver::Queue>(), any<const Time>()));
template <class Time>
using Suspend = decltype(any<driver::ProcessContext>().suspend({}, any<const Time>()));
template <class Time>
using Resume = decltype(any<driver::ProcessContext>().resume({}, any<const Time>()));
template <class Time>
using Evict = decltype(any<driver::ProcessContext>().evict(any<const Time>()));
template <class Time>
using Restore = decltype(any<driver::ProcessContext>().restore(any<const Time>()));
template <class Time>
using WaitFault = decltype(any<driver::ProcessContext>().wait_fault(any<const Time>()));
template <class Time>
using WaitSignal = decltype(any<driver::Signals>().wait({}, {}, any<const Time>()));
template <class Time>
using WaitAnySignal = decltype(any<driver::Signals>().wait_any(
    any<std::vector<driver::SignalWait>>(), {}, any<const Time>()));
template <class Time>
using WaitAllSignals = decltype(any<driver::Signals>().wait_all(
    any<std::vector<driver::SignalWait>>(), {}, any<const Time>()));

template <template <class> class Call, class Time, class = void>
struct Compiles : std::false_type {};
template <template <class> class Call, class Time>
struct Compiles<Call, Time, std::void_t<Call<Time>>> : std::true_type {};

template <template <class> class Call>
constexpr bool kEndsAtAnInstant =
    Compiles<Call, Instant>::value && !Compiles<Call, Picoseconds>::value;

static_assert(kEndsAtAnInstant<Relax> && kEndsAtAnInstant<SleepUntil>);
static_assert(kEndsAtAnInstant<WaitBeyond> && kEndsAtAnInstant<TryLockUntil>);
static_assert(kEndsAtAnInstant<WaitCondition> && kEndsAtAnInstant<DestroyStream>);
static_assert(kEndsAtAnInstant<WaitTicket> && kEndsAtAnInstant<Copy>);
static_assert(kEndsAtAnInstant<SubmitOne> && kEndsAtAnInstant<SubmitSome>);
static_assert(kEndsAtAnInstant<WaitQueue> && kEndsAtAnInstant<DestroyQueue>);
static_assert(kEndsAtAnInstant<Suspend> && kEndsAtAnInstant<Resume>);
static_assert(kEndsAtAnInstant<Evict> && kEndsAtAnInstant<Restore>);
static_assert(kEndsAtAnInstant<WaitFault> && kEndsAtAnInstant<WaitSignal>);
static_assert(kEndsAtAnInstant<WaitAnySignal> && kEndsAtAnInstant<WaitAllSignals>);

// Neither turns into the other by itself.
static_assert(!std::is_convertible_v<Picoseconds, Instant>);
static_assert(!std::is_convertible_v<Instant, Picoseconds>);
static_assert(!std::is_constructible_v<Picoseconds, Instant>);
static_assert(!std::is_assignable_v<Instant&, Picoseconds>);
static_assert(!std::is_assignable_v<Picoseconds&, Instant>);
static_assert(!std::is_constructible_v<Instant, std::int64_t>);

// What has no meaning has no operator; what has one has the type that it means.
static_assert(!std::is_invocable_v<std::plus<>, Instant, Instant>);
static_assert(!std::is_invocable_v<std::plus<>, Picoseconds, Instant>);
static_assert(!std::is_invocable_v<std::minus<>, Picoseconds, Instant>);
static_assert(!std::is_invocable_v<std::multiplies<>, Instant, std::int64_t>);
static_assert(!std::is_invocable_v<std::less<>, Instant, Picoseconds>);
static_assert(!std::is_invocable_v<std::equal_to<>, Picoseconds, Instant>);
static_assert(std::is_invocable_r_v<Instant, std::plus<>, Instant, Picoseconds>);
static_assert(std::is_invocable_r_v<Instant, std::minus<>, Instant, Picoseconds>);
static_assert(std::is_invocable_r_v<Picoseconds, std::minus<>, Instant, Instant>);

// Recorded times are instants.
static_assert(std::is_same_v<decltype(platform::TraceEvent::begin), Instant>);
static_assert(std::is_same_v<decltype(platform::TraceEvent::end), Instant>);
static_assert(std::is_same_v<decltype(driver::Ticket::submitted), Instant>);
static_assert(std::is_same_v<decltype(driver::QueueTicket::submitted), Instant>);

// Passed in a register as a plain number is.
static_assert(sizeof(Instant) == sizeof(std::int64_t) && std::is_trivially_copyable_v<Instant>);

TEST(Instant, LiesSoLongAfterPowerUp) {
  EXPECT_EQ(Instant().since_power_up(), 0_ps);
  EXPECT_EQ((Instant(3_us) + 2_us).since_power_up(), 5_us);
  EXPECT_EQ((Instant(3_us) - 2_us).since_power_up(), 1_us);
  EXPECT_EQ(Instant(3_us) - Instant(5_us), Picoseconds(-2'000'000));
  Instant moved(1_ms);
  moved += 1_us;
  moved -= 3_us;
  EXPECT_EQ(moved, Instant(998_us));
  EXPECT_LT(Instant(1_ps), Instant(2_ps));
  EXPECT_GE(Instant(2_ps), Instant(2_ps));
}

TEST(Instant, BeyondTheRangeIsNever) {
  EXPECT_EQ(Instant(1_s) + Picoseconds::max(), Instant::never());
  EXPECT_EQ(Instant::never() + 1_ps, Instant::never());
  EXPECT_LT(Instant::never() - 1_ps, Instant::never());
  const Instant earliest(Picoseconds(INT64_MIN));
  EXPECT_EQ(earliest - 1_ps, earliest);
  EXPECT_EQ(Instant::never() - earliest, Picoseconds::max());
}

}  // namespace
}  // namespace npu
