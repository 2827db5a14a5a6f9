// SPDX-License-Identifier: Apache-2.0
// The parts of PCI configuration space that both a driver and a model must know. Offsets are
// those of the PCI Express Base Specification, chapter 7.
#pragma once

#include <cstdint>

namespace npu::abi::pci {

inline constexpr std::uint32_t kConfigSpaceSize = 4096;
inline constexpr std::uint32_t kExtendedStart = 0x100;
inline constexpr unsigned kBuses = 256, kDevicesPerBus = 32, kFunctionsPerDevice = 8;
inline constexpr std::uint32_t kAllOnes = 0xFFFFFFFF;

// Common header
inline constexpr std::uint32_t kVendorId = 0x00, kDeviceId = 0x02, kCommand = 0x04, kStatus = 0x06;
inline constexpr std::uint32_t kRevision = 0x08, kClassCode = 0x09, kCacheLine = 0x0C;
inline constexpr std::uint32_t kHeaderType = 0x0E, kBar0 = 0x10, kCapabilityPointer = 0x34;
inline constexpr std::uint32_t kInterruptLine = 0x3C, kInterruptPin = 0x3D;
// Type 0 header
inline constexpr std::uint32_t kSubsystemVendor = 0x2C, kSubsystemId = 0x2E, kRomBar = 0x30;
// Type 1 header
inline constexpr std::uint32_t kPrimaryBus = 0x18, kSecondaryBus = 0x19, kSubordinateBus = 0x1A;
inline constexpr std::uint32_t kIoBase = 0x1C, kIoLimit = 0x1D, kSecondaryStatus = 0x1E;
inline constexpr std::uint32_t kMemoryBase = 0x20, kMemoryLimit = 0x22;
inline constexpr std::uint32_t kPrefetchBase = 0x24, kPrefetchLimit = 0x26;
inline constexpr std::uint32_t kPrefetchBaseUpper = 0x28, kPrefetchLimitUpper = 0x2C;
inline constexpr std::uint32_t kBridgeControl = 0x3E;
inline constexpr std::uint16_t kBridgeControlBusReset = 1 << 6;

inline constexpr std::uint8_t kHeaderTypeEndpoint = 0x00, kHeaderTypeBridge = 0x01;
inline constexpr std::uint8_t kHeaderTypeMask = 0x7F, kHeaderMultiFunction = 0x80;

inline constexpr std::uint16_t kCommandIo = 1 << 0, kCommandMemory = 1 << 1;
inline constexpr std::uint16_t kCommandBusMaster = 1 << 2, kCommandParity = 1 << 6;
inline constexpr std::uint16_t kCommandSerr = 1 << 8, kCommandIntxDisable = 1 << 10;
inline constexpr std::uint16_t kStatusCapabilities = 1 << 4;

inline constexpr std::uint32_t kBarIo = 1 << 0, kBarTypeMask = 3 << 1, kBarType64 = 2 << 1;
inline constexpr std::uint32_t kBarPrefetchable = 1 << 3, kBarFlagsMask = 0xF;

// Capability ids
inline constexpr std::uint8_t kCapPowerManagement = 0x01, kCapPciExpress = 0x10, kCapMsix = 0x11;
// Extended capability ids
inline constexpr std::uint16_t kExtAer = 0x0001, kExtSerialNumber = 0x0003, kExtAcs = 0x000D;
inline constexpr std::uint16_t kExtAri = 0x000E, kExtAts = 0x000F, kExtSriov = 0x0010;
inline constexpr std::uint16_t kExtPri = 0x0013, kExtLtr = 0x0018, kExtSecondaryPcie = 0x0019;
inline constexpr std::uint16_t kExtPasid = 0x001B, kExtDataLinkFeature = 0x0025, kExt16Gt = 0x0026;

// PCI Express capability, offsets from its start
inline constexpr std::uint32_t kExpFlags = 0x02, kExpDeviceCap = 0x04, kExpDeviceControl = 0x08;
inline constexpr std::uint32_t kExpDeviceStatus = 0x0A, kExpLinkCap = 0x0C, kExpLinkStatus = 0x12;
inline constexpr std::uint32_t kExpSlotStatus = 0x1A, kExpDeviceCap2 = 0x24;
inline constexpr std::uint32_t kExpDeviceControl2 = 0x28, kExpLinkStatus2 = 0x32;
inline constexpr std::uint32_t kExpDeviceCapFlr = 1u << 28;
inline constexpr std::uint16_t kExpLinkStatusActive = 1 << 13;
inline constexpr std::uint16_t kExpLinkStatusTrained = 0x3FF;  // generation and lanes
inline constexpr unsigned kExpLinkStatusWidthShift = 4;
inline constexpr std::uint16_t kExpSlotStatusLinkChanged = 1 << 8;
inline constexpr std::uint16_t kExpDevice2AriForwarding = 1 << 5;  // capability and control
inline constexpr std::uint16_t kExpDeviceControlFlr = 1u << 15;
inline constexpr std::uint16_t kExpDeviceStatusCorrectable = 1u << 0;
inline constexpr std::uint16_t kExpDeviceStatusPending = 1u << 5;

// SR-IOV capability, offsets from its start
inline constexpr std::uint32_t kSriovControl = 0x08, kSriovTotalVfs = 0x0E, kSriovNumVfs = 0x10;
inline constexpr std::uint32_t kSriovVfOffset = 0x14, kSriovVfStride = 0x16;
inline constexpr std::uint32_t kSriovVfDeviceId = 0x1A, kSriovPageSize = 0x20, kSriovBar0 = 0x24;
inline constexpr std::uint16_t kSriovControlEnable = 1 << 0, kSriovControlMemory = 1 << 3;

// ATS capability, offsets from its start
inline constexpr std::uint32_t kAtsControl = 0x06;
inline constexpr std::uint16_t kAtsControlEnable = 1 << 15, kAtsControlStuMask = 0x1F;

// Page request (PRI) capability, offsets from its start
inline constexpr std::uint32_t kPriControl = 0x04, kPriStatus = 0x06, kPriCapacity = 0x08;
inline constexpr std::uint32_t kPriAllocation = 0x0C;
inline constexpr std::uint16_t kPriControlEnable = 1 << 0, kPriControlReset = 1 << 1;
inline constexpr std::uint16_t kPriStatusFailure = 1 << 0, kPriStatusUnexpected = 1 << 1;
inline constexpr std::uint16_t kPriStatusStopped = 1 << 8, kPriStatusPasid = 1 << 15;
inline constexpr unsigned kPriGroups = 512;  // 9 bits of group index

// PASID capability, offsets from its start
inline constexpr std::uint32_t kPasidControl = 0x06;
inline constexpr std::uint16_t kPasidControlEnable = 1 << 0;

// MSI-X capability, offsets from its start, and table entries
inline constexpr std::uint32_t kMsixControl = 0x02, kMsixTable = 0x04, kMsixPba = 0x08;
inline constexpr std::uint16_t kMsixControlSizeMask = 0x07FF, kMsixControlMaskAll = 1 << 14;
inline constexpr std::uint16_t kMsixControlEnable = 1 << 15;
inline constexpr std::uint32_t kMsixBirMask = 0x7, kMsixEntrySize = 16;
inline constexpr std::uint32_t kMsixEntryAddressLow = 0, kMsixEntryAddressHigh = 4;
inline constexpr std::uint32_t kMsixEntryData = 8, kMsixEntryControl = 12;
inline constexpr std::uint32_t kMsixEntryMasked = 1 << 0;

// AER capability, offsets from its start, and bits of the correctable status
inline constexpr std::uint32_t kAerStatus = 0x04, kAerMask = 0x08, kAerSeverity = 0x0C;
inline constexpr std::uint32_t kAerCorrectableStatus = 0x10, kAerControl = 0x18, kAerHeader = 0x1C;
inline constexpr std::uint32_t kAerRootStatus = 0x30;
inline constexpr std::uint32_t kAerReceiverError = 1 << 0, kAerBadTlp = 1 << 6;
inline constexpr std::uint32_t kAerBadDllp = 1 << 7, kAerReplayRollover = 1 << 8;
inline constexpr std::uint32_t kAerReplayTimeout = 1 << 12, kAerAdvisory = 1 << 13;
// AER uncorrectable status bits
inline constexpr std::uint32_t kAerPoisoned = 1 << 12, kAerCompletionTimeout = 1 << 14;
inline constexpr std::uint32_t kAerCompleterAbort = 1 << 15, kAerUnexpectedCompletion = 1 << 16;
inline constexpr std::uint32_t kAerReceiverOverflow = 1 << 17;
inline constexpr std::uint32_t kAerMalformed = 1 << 18, kAerEcrc = 1 << 19;
inline constexpr std::uint32_t kAerUnsupportedRequest = 1 << 20;

}  // namespace npu::abi::pci
