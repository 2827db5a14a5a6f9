// SPDX-License-Identifier: Apache-2.0
// Vendor and device ids. Sources: requirements.md M1 (0xD1xx, 0xD200), hardware.md H9 (0xD80x).
#pragma once

#include <cstdint>

namespace npu::abi {

inline constexpr std::uint16_t kVendorId = 0x19E5;

inline constexpr std::uint16_t kDevice910 = 0xD100;
inline constexpr std::uint16_t kDevice910b = 0xD110;
inline constexpr std::uint16_t kDevice950 = 0xD200;
inline constexpr std::uint16_t kDeviceShipping910a = 0xD801;
inline constexpr std::uint16_t kDeviceShipping910b = 0xD802;
inline constexpr std::uint16_t kDeviceShipping910c = 0xD803;
inline constexpr std::uint16_t kDeviceVirtual = 0xD805;  // virtual functions
inline constexpr std::uint16_t kDeviceShipping950 = 0xD806;

constexpr bool is_npu_device(std::uint16_t device) {
  return device == kDevice910 || device == kDevice910b || device == kDevice950 ||
         (device >= kDeviceShipping910a && device <= kDeviceShipping910c) ||
         device == kDeviceVirtual || device == kDeviceShipping950;
}

// Chips whose managed memory the runtime offers: 910B, its virtual functions, 910C
// (virtualisation.md S1).
constexpr bool has_managed_memory(std::uint16_t device) {
  return device == kDevice910b || device == kDeviceShipping910b || device == kDeviceShipping910c ||
         device == kDeviceVirtual;
}

inline constexpr std::uint32_t kClassProcessingAccelerator = 0x120000;

}  // namespace npu::abi
