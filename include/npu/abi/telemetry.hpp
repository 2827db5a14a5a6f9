// SPDX-License-Identifier: Apache-2.0
// What a function shows of its card to management software: clocks, busy times, traffic of memory
// and link, errors of the memory and the log of events. In the global page of BAR0 and, as windows
// of 64-bit words, behind it; a read costs what any register read does. Offsets are npusim's own;
// what there is to tell is management.md G1 and G3.
//
// Busy times and traffic only grow, from the function's reset on; who wants a rate reads twice and
// takes the time in between from DEVICE_TIME.
#pragma once

#include <array>
#include <cstdint>

#include "npu/abi/page_table.hpp"
#include "npu/abi/register.hpp"

namespace npu::abi {

// What the other registers mean something for; what is not there reads 0.
struct TelemetryCapability
    : Register<TelemetryCapability, std::uint32_t, 0x0480, Access::kReadOnly> {
  static constexpr std::string_view kName = "TELEMETRY_CAPABILITY";
  NPU_FIELD(Cores, 0, 0, "CORE_BUSY, CUBE_BUSY, VECTOR_BUSY");
  NPU_FIELD(Aicpus, 1, 1, "AICPU_BUSY");
  NPU_FIELD(Memory, 2, 2, "HBM_BYTES_READ, HBM_BYTES_WRITTEN");
  NPU_FIELD(Link, 3, 3, "LINK_RX_*, LINK_TX_*");
  NPU_FIELD(Ecc, 4, 4, "ECC_*");
  NPU_FIELD(Spaces, 5, 5, "SPACE_BUSY");
  NPU_FIELD(Hccs, 6, 6, "HCCS_SENT, HCCS_RECEIVED");
  NPU_FIELD(EventWords, 15, 8, "64-bit words of a record of the log");
};
// Clocks in MHz, rounded down.
struct CoreClock : Register<CoreClock, std::uint32_t, 0x0484, Access::kReadOnly> {
  static constexpr std::string_view kName = "CORE_CLOCK";
  NPU_FIELD(Rated, 15, 0, "MHz of an AI Core as built");
  NPU_FIELD(Present, 31, 16, "MHz of an AI Core now");
};
struct AicpuClock : Register<AicpuClock, std::uint32_t, 0x0488, Access::kReadOnly> {
  static constexpr std::string_view kName = "AICPU_CLOCK";
  NPU_FIELD(Rated, 15, 0, "MHz of an AICPU as built");
  NPU_FIELD(Present, 31, 16, "MHz of an AICPU now");
};
struct HbmClock : Register<HbmClock, std::uint32_t, 0x048C, Access::kReadOnly> {
  static constexpr std::string_view kName = "HBM_CLOCK";
  NPU_FIELD(Command, 15, 0, "MHz of the command bus");
};
struct HbmPeakRate : Register<HbmPeakRate, std::uint64_t, 0x0490, Access::kReadOnly> {
  static constexpr std::string_view kName = "HBM_PEAK_RATE";
  NPU_VALUE("bytes/s", "that the memory moves at most, reads and writes together");
};
// Bytes that requests have read from and written to the HBM, those of the host and of other cards
// included.
struct HbmBytesRead : Register<HbmBytesRead, std::uint64_t, 0x0498, Access::kReadOnly> {
  static constexpr std::string_view kName = "HBM_BYTES_READ";
  NPU_VALUE("bytes", "that requests have read from the HBM");
};
struct HbmBytesWritten : Register<HbmBytesWritten, std::uint64_t, 0x04A0, Access::kReadOnly> {
  static constexpr std::string_view kName = "HBM_BYTES_WRITTEN";
  NPU_VALUE("bytes", "that requests have written to the HBM");
};
// Nanoseconds that the cube and vector units of all AI Cores have worked, summed up. An instruction
// counts in whole when its unit takes it.
struct CubeBusy : Register<CubeBusy, std::uint64_t, 0x04A8, Access::kReadOnly> {
  static constexpr std::string_view kName = "CUBE_BUSY";
  NPU_VALUE("ns", "that the cube units of all AI Cores have worked, summed up");
};
struct VectorBusy : Register<VectorBusy, std::uint64_t, 0x04B0, Access::kReadOnly> {
  static constexpr std::string_view kName = "VECTOR_BUSY";
  NPU_VALUE("ns", "that the vector units of all AI Cores have worked, summed up");
};
struct LinkRate : Register<LinkRate, std::uint64_t, 0x04B8, Access::kReadOnly> {
  static constexpr std::string_view kName = "LINK_RATE";
  NPU_VALUE("bytes/s", "of each direction of the PCIe link after encoding");
};
// Bytes of TLPs, headers and framing included, that the card has received and sent.
struct LinkRxPosted : Register<LinkRxPosted, std::uint64_t, 0x04C0, Access::kReadOnly> {
  static constexpr std::string_view kName = "LINK_RX_POSTED";
  NPU_VALUE("bytes", "of posted TLPs that the card has received");
};
struct LinkRxNonPosted : Register<LinkRxNonPosted, std::uint64_t, 0x04C8, Access::kReadOnly> {
  static constexpr std::string_view kName = "LINK_RX_NON_POSTED";
  NPU_VALUE("bytes", "of non-posted TLPs that the card has received");
};
struct LinkRxCompletion : Register<LinkRxCompletion, std::uint64_t, 0x04D0, Access::kReadOnly> {
  static constexpr std::string_view kName = "LINK_RX_COMPLETION";
  NPU_VALUE("bytes", "of completion TLPs that the card has received");
};
struct LinkTxPosted : Register<LinkTxPosted, std::uint64_t, 0x04D8, Access::kReadOnly> {
  static constexpr std::string_view kName = "LINK_TX_POSTED";
  NPU_VALUE("bytes", "of posted TLPs that the card has sent");
};
struct LinkTxNonPosted : Register<LinkTxNonPosted, std::uint64_t, 0x04E0, Access::kReadOnly> {
  static constexpr std::string_view kName = "LINK_TX_NON_POSTED";
  NPU_VALUE("bytes", "of non-posted TLPs that the card has sent");
};
struct LinkTxCompletion : Register<LinkTxCompletion, std::uint64_t, 0x04E8, Access::kReadOnly> {
  static constexpr std::string_view kName = "LINK_TX_COMPLETION";
  NPU_VALUE("bytes", "of completion TLPs that the card has sent");
};

// --- Errors of the memory -------------------------------------------------------------------

struct EccInjectAddress : Register<EccInjectAddress, std::uint64_t, 0x0500, Access::kReadWrite> {
  static constexpr std::string_view kName = "ECC_INJECT_ADDRESS";
  NPU_VALUE("device-local address", "of the next injected error");
};
// Writing 1 or 2 flips so many bits of the burst at ECC_INJECT_ADDRESS, for tests of error
// handling. A read of the burst finds them, a write of all of it heals it. Reads 0.
struct EccInject : Register<EccInject, std::uint32_t, 0x0508, Access::kReadWrite> {
  static constexpr std::string_view kName = "ECC_INJECT";
  NPU_FIELD(Bits, 1, 0,
            "flip so many bits, 1 or 2, of the burst at ECC_INJECT_ADDRESS; reads as 0");
};
// Errors found by reads since the function's reset: corrected ones, and ones that could not be.
struct EccSingle : Register<EccSingle, std::uint32_t, 0x050C, Access::kReadOnly> {
  static constexpr std::string_view kName = "ECC_SINGLE";
  NPU_VALUE("errors", "found by reads since reset and corrected");
};
struct EccDouble : Register<EccDouble, std::uint32_t, 0x0510, Access::kReadOnly> {
  static constexpr std::string_view kName = "ECC_DOUBLE";
  NPU_VALUE("errors", "found by reads since reset that could not be corrected");
};
// The same since ECC_CLEAR; no reset forgets them.
struct EccRecordedSingle : Register<EccRecordedSingle, std::uint32_t, 0x0514, Access::kReadOnly> {
  static constexpr std::string_view kName = "ECC_RECORDED_SINGLE";
  NPU_VALUE("errors", "corrected since ECC_CLEAR");
};
struct EccRecordedDouble : Register<EccRecordedDouble, std::uint32_t, 0x0518, Access::kReadOnly> {
  static constexpr std::string_view kName = "ECC_RECORDED_DOUBLE";
  NPU_VALUE("errors", "not corrected since ECC_CLEAR");
};
// Pages of 2 MiB that the record takes out of use: kEccSinglesOfPage corrected errors in one, or an
// error that could not be corrected.
struct EccIsolatedSingle : Register<EccIsolatedSingle, std::uint32_t, 0x051C, Access::kReadOnly> {
  static constexpr std::string_view kName = "ECC_ISOLATED_SINGLE";
  NPU_VALUE("pages of 2 MiB", "that the record takes out of use for corrected errors");
};
struct EccIsolatedDouble : Register<EccIsolatedDouble, std::uint32_t, 0x0520, Access::kReadOnly> {
  static constexpr std::string_view kName = "ECC_ISOLATED_DOUBLE";
  NPU_VALUE("pages of 2 MiB",
            "that the record takes out of use for errors that could not be corrected");
};
inline constexpr std::uint32_t kEccSinglesOfPage = 8;  // assumed
// Writing 1 forgets the record and ends the alarms of the memory, each with an event. Reads 0.
struct EccClear : Register<EccClear, std::uint32_t, 0x0524, Access::kReadWrite> {
  static constexpr std::string_view kName = "ECC_CLEAR";
  NPU_FIELD(Record, 0, 0, "forget the record and end the alarms of the memory; reads as 0");
};

// --- Health and events -----------------------------------------------------------------------

enum class Severity : std::uint8_t { kNotice = 0, kMinor = 1, kMajor = 2, kCritical = 3 };
// The worst of the alarms that are up: raised since the function's reset, and not ended by
// ECC_CLEAR or, of the temperature, by the card.
struct HealthStatus : Register<HealthStatus, std::uint32_t, 0x0540, Access::kReadOnly> {
  static constexpr std::string_view kName = "HEALTH_STATUS";
  NPU_FIELD(Worst, 1, 0, "Severity of the worst alarm that is up; 0: nothing");
  NPU_FIELD(MemorySingle, 8, 8, "a bit of the memory was corrected");
  NPU_FIELD(MemoryDouble, 9, 9, "bits of the memory could not be corrected");
  NPU_FIELD(Temperature, 10, 10, "the AI Cores' clock is lower because the card is hot");
};
// Events ever logged, modulo 2^32; no reset forgets them. Number n, from 1 on, lies in the log at
// place (n - 1) modulo kEventLogRecords.
struct EventLogCount : Register<EventLogCount, std::uint32_t, 0x0544, Access::kReadOnly> {
  static constexpr std::string_view kName = "EVENT_LOG_COUNT";
  NPU_VALUE("events", "ever logged, modulo 2^32");
};

enum class EventKind : std::uint16_t {
  kMemorySingle = 1,  // a bit was corrected
  kMemoryDouble = 2,  // two bits of a burst could not be corrected
  kFault = 3,         // the function has reported a fault (FAULT_CODE): detail
  kReset = 4,         // the function was reset
  kTemperature = 5,   // the AI Cores' clock is lower because the card is hot: detail, in MHz
};

// A record of the log, as four words.
struct LoggedEvent {
  std::uint32_t number = 0;  // word 0
  EventKind kind = EventKind::kFault;
  Severity severity = Severity::kNotice;
  std::uint8_t ended = 0;     // 1: the alarm of this kind is not up any more
  std::uint64_t time_ns = 0;  // DEVICE_TIME
  std::uint64_t address = 0;  // device-local, or the fault's
  std::uint64_t detail = 0;   // kFault: FaultCode
};
static_assert(sizeof(LoggedEvent) == 32);

// --- Windows of 64-bit words, read only ------------------------------------------------------

struct WordWindow {
  std::uint32_t offset;  // bytes, in BAR0
  std::uint32_t words;
  constexpr std::uint32_t end() const { return offset + 8 * words; }
  constexpr std::uint32_t at(std::uint32_t word) const { return offset + 8 * word; }
};
// Nanoseconds that AI Core n (bit n of a core mask) has had a block of a kernel, and AICPU n.
inline constexpr WordWindow kCoreBusyWindow{0x0800, 256};
inline constexpr WordWindow kAicpuBusyWindow{0x1100, 64};
// The chip's name, ASCII, padded with zeroes.
inline constexpr WordWindow kChipNameWindow{0x1300, 4};
inline constexpr std::uint32_t kEventLogRecords = 32;
inline constexpr WordWindow kEventLogWindow{0x1400, 4 * kEventLogRecords};
// Pages of 2 MiB that the record of memory errors takes out of use: their numbers from the start of
// the function's memory, rising, kNoIsolatedPage behind the last one. Of more than fit, the first.
inline constexpr WordWindow kIsolatedPagesWindow{0x1800, 64};
inline constexpr std::uint64_t kNoIsolatedPage = ~std::uint64_t{0};
// Nanoseconds in which at least one AI Core had a block of a kernel of the address space of VMID n.
inline constexpr WordWindow kSpaceBusyWindow{0x1A00, kVmids};
// Messages that function 0's card has sent to the card of DEVICE_INDEX HCCS_COUNTED + n over HCCS,
// and received from it, since the machine's beginning; requests and responses.
inline constexpr WordWindow kHccsSentWindow{0x1C00, 64};
inline constexpr WordWindow kHccsReceivedWindow{0x1E00, 64};

}  // namespace npu::abi
