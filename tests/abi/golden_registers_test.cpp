// SPDX-License-Identifier: Apache-2.0
// The golden table: what the specification says, typed by hand. Never generate it from the headers.
#include <gtest/gtest.h>

#include "npu/abi/control_window.hpp"
#include "npu/abi/registers.hpp"
#include "npu/abi/stream.hpp"

namespace npu::abi {
namespace {

struct GoldenRegister {
  const char* name;
  std::uint32_t offset;
  std::uint32_t size;
  const char* access;
  std::uint64_t reset;
};

const GoldenRegister kGoldenBar0[] = {
    {"CHIP_ID", 0x0000, 4, "RO", 0},
    {"CHIP_REVISION", 0x0004, 4, "RO", 0},
    {"AI_CORE_COUNT", 0x0008, 4, "RO", 0},
    {"DEVICE_INDEX", 0x000C, 4, "RO", 0},
    {"HBM_SIZE", 0x0010, 8, "RO", 0},
    {"STREAM_WINDOW_BASE", 0x0018, 8, "RO", 0},
    {"STREAM_COUNT", 0x0020, 4, "RO", 0},
    {"EVENT_COUNT", 0x0024, 4, "RO", 0},
    {"DEVICE_STATUS", 0x0028, 4, "RO", 0},
    {"DEVICE_TIME", 0x0030, 8, "RO", 0},
    {"FAULT_STATUS", 0x0100, 4, "RW1C", 0},
    {"FAULT_CODE", 0x0104, 4, "RO", 0},
    {"FAULT_ADDRESS", 0x0108, 8, "RO", 0},
    {"FAULT_INFO", 0x0110, 4, "RO", 0},
    {"FAULT_ACCESS", 0x0114, 4, "RO", 0},
    {"HCCS_ACCESS", 0x0140, 8, "RW", 0},
    {"HCCS_ACCESS_1", 0x0148, 8, "RW", 0},
    {"HCCS_ACCESS_2", 0x0150, 8, "RW", 0},
    {"HCCS_ACCESS_3", 0x0158, 8, "RW", 0},
    {"HCCS_ACCESS_4", 0x0160, 8, "RW", 0},
    {"HCCS_ACCESS_5", 0x0168, 8, "RW", 0},
    {"HCCS_ACCESS_6", 0x0170, 8, "RW", 0},
    {"HCCS_ACCESS_7", 0x0178, 8, "RW", 0},
    {"HCCS_ACCESS_8", 0x0180, 8, "RW", 0},
    {"HCCS_ACCESS_9", 0x0188, 8, "RW", 0},
    {"HCCS_ACCESS_10", 0x0190, 8, "RW", 0},
    {"HCCS_ACCESS_11", 0x0198, 8, "RW", 0},
    {"MMU_CONTEXT_BASE", 0x0200, 8, "RW", 0},
    {"MMU_INVALIDATE_ADDRESS", 0x0208, 8, "RW", 0},
    {"MMU_INVALIDATE_SIZE", 0x0210, 8, "RW", 0},
    {"MMU_INVALIDATE", 0x0218, 4, "RW", 0},
    {"PAGE_INVALIDATE_ADDRESS", 0x0220, 8, "RW", 0},
    {"PAGE_INVALIDATE", 0x0228, 4, "RW", 0},
    {"HCCS_LINKS", 0x0280, 8, "RO", 0},
    {"HCCS_LINKS_1", 0x0288, 8, "RO", 0},
    {"HCCS_LINKS_2", 0x0290, 8, "RO", 0},
    {"HCCS_LINKS_3", 0x0298, 8, "RO", 0},
    {"HCCS_LINKS_4", 0x02A0, 8, "RO", 0},
    {"HCCS_LINKS_5", 0x02A8, 8, "RO", 0},
    {"HCCS_LINKS_6", 0x02B0, 8, "RO", 0},
    {"HCCS_LINKS_7", 0x02B8, 8, "RO", 0},
    {"HCCS_LINKS_8", 0x02C0, 8, "RO", 0},
    {"HCCS_LINKS_9", 0x02C8, 8, "RO", 0},
    {"HCCS_LINKS_10", 0x02D0, 8, "RO", 0},
    {"HCCS_LINKS_11", 0x02D8, 8, "RO", 0},
    {"HCCS_COUNTED", 0x02E0, 4, "RW", 0},
    {"QUEUE_CAPABILITY", 0x0300, 4, "RO", 0},
    {"QUEUE_CORES", 0x0304, 4, "RO", 0},
    {"DOORBELL_BASE", 0x0308, 8, "RO", 0},
    {"MANAGEMENT_BASE", 0x0310, 8, "RW", 0},
    {"MANAGEMENT_CONTROL", 0x0318, 4, "RW", 0},
    {"MANAGEMENT_STATUS", 0x031C, 4, "RO", 0},
    {"MANAGEMENT_DOORBELL", 0x0320, 4, "RW", 0},
    {"MANAGEMENT_CONSUMER", 0x0324, 4, "RO", 0},
    {"QUEUE_FAULT_BASE", 0x0328, 8, "RW", 0},
    {"QUEUE_FAULT_CONTROL", 0x0330, 4, "RW", 0},
    {"QUEUE_FAULT_COUNT", 0x0334, 4, "RO", 0},
    {"CORE_TOPOLOGY", 0x0338, 4, "RO", 0},
    {"PAGE_FAULT_SPACES", 0x0380, 4, "RW", 0},
    {"PAGE_FAULT_CONTROL", 0x0384, 4, "RW", 0},
    {"PAGE_FAULT_BASE", 0x0388, 8, "RW", 0},
    {"PAGE_FAULT_PRODUCER", 0x0390, 4, "RO", 0},
    {"PAGE_FAULT_CONSUMER", 0x0394, 4, "RW", 0},
    {"PAGE_FAULT_ADDRESS", 0x0398, 8, "RW", 0},
    {"PAGE_FAULT_REPLY", 0x03A0, 4, "RW", 0},
    {"PAGE_RESIDENCY_BASE", 0x03A8, 8, "RW", 0},
    {"PAGE_FAULT_MODE", 0x03B0, 4, "RO", 0},
    {"SHARED_SPACE", 0x03B4, 4, "RW", 0},
    {"PAGE_FAULT_WAITING", 0x03B8, 4, "RW", 0},
    {"CONTROL_IMAGE", 0x03C0, 8, "RW", 0},
    {"CONTROL_ARGUMENTS", 0x03C8, 8, "RW", 0},
    {"CONTROL_STATE", 0x03D0, 4, "RW", 0},
    {"MESSAGE_CONTROL", 0x03D4, 4, "RW", 0},
    {"MESSAGE_BASE", 0x03D8, 8, "RW", 0},
    {"MESSAGE_PRODUCER", 0x03E0, 4, "RO", 0},
    {"MESSAGE_CONSUMER", 0x03E4, 4, "RW", 0},
    {"MESSAGE_TAKEN", 0x03E8, 4, "RO", 0},
    {"MESSAGE_RECEIVED", 0x03EC, 4, "RO", 0},
    {"MESSAGE_WORD1", 0x03F0, 8, "RW", 0},
    {"MESSAGE_WORD2", 0x03F8, 8, "RW", 0},
    {"MESSAGE_WORD3", 0x0400, 8, "RW", 0},
    {"MESSAGE_SEND", 0x0408, 8, "RW", 0},
    {"PARTITION_CAPABILITY", 0x0410, 4, "RO", 0},
    {"PARTITION_STATUS", 0x0414, 4, "RO", 0},
    {"PARTITION_COMMAND", 0x0418, 4, "RW", 0},
    {"PARTITION_CORES", 0x041C, 4, "RW", 0},
    {"PARTITION_AICPUS", 0x0420, 4, "RW", 0},
    {"PARTITION_MEMORY_BASE", 0x0428, 8, "RW", 0},
    {"PARTITION_MEMORY_SIZE", 0x0430, 8, "RW", 0},
    {"PARTITION_MEDIA", 0x0438, 8, "RW", 0},
    {"PARTITION_GROUP", 0x0440, 4, "RW", 0},
    {"PARTITION_WEIGHTS", 0x0444, 4, "RW", 0},
    {"PARTITION_TOKENS", 0x0448, 8, "RW", 0},
    {"PARTITION_TASK_TIMEOUT", 0x0450, 4, "RW", 0},
    {"SHARE_NAME0", 0x0458, 8, "RW", 0},
    {"SHARE_NAME1", 0x0460, 8, "RW", 0},
    {"TELEMETRY_CAPABILITY", 0x0480, 4, "RO", 0},
    {"CORE_CLOCK", 0x0484, 4, "RO", 0},
    {"AICPU_CLOCK", 0x0488, 4, "RO", 0},
    {"HBM_CLOCK", 0x048C, 4, "RO", 0},
    {"HBM_PEAK_RATE", 0x0490, 8, "RO", 0},
    {"HBM_BYTES_READ", 0x0498, 8, "RO", 0},
    {"HBM_BYTES_WRITTEN", 0x04A0, 8, "RO", 0},
    {"CUBE_BUSY", 0x04A8, 8, "RO", 0},
    {"VECTOR_BUSY", 0x04B0, 8, "RO", 0},
    {"LINK_RATE", 0x04B8, 8, "RO", 0},
    {"LINK_RX_POSTED", 0x04C0, 8, "RO", 0},
    {"LINK_RX_NON_POSTED", 0x04C8, 8, "RO", 0},
    {"LINK_RX_COMPLETION", 0x04D0, 8, "RO", 0},
    {"LINK_TX_POSTED", 0x04D8, 8, "RO", 0},
    {"LINK_TX_NON_POSTED", 0x04E0, 8, "RO", 0},
    {"LINK_TX_COMPLETION", 0x04E8, 8, "RO", 0},
    {"ECC_INJECT_ADDRESS", 0x0500, 8, "RW", 0},
    {"ECC_INJECT", 0x0508, 4, "RW", 0},
    {"ECC_SINGLE", 0x050C, 4, "RO", 0},
    {"ECC_DOUBLE", 0x0510, 4, "RO", 0},
    {"ECC_RECORDED_SINGLE", 0x0514, 4, "RO", 0},
    {"ECC_RECORDED_DOUBLE", 0x0518, 4, "RO", 0},
    {"ECC_ISOLATED_SINGLE", 0x051C, 4, "RO", 0},
    {"ECC_ISOLATED_DOUBLE", 0x0520, 4, "RO", 0},
    {"ECC_CLEAR", 0x0524, 4, "RW", 0},
    {"HEALTH_STATUS", 0x0540, 4, "RO", 0},
    {"EVENT_LOG_COUNT", 0x0544, 4, "RO", 0},
    {"DMA_QUEUE_BASE", 0x1000, 8, "RW", 0},      // requirements.md M3: 0x1000
    {"DMA_CONSUMER_INDEX", 0x1008, 4, "RO", 0},  // M3: 0x1008
    {"DMA_DOORBELL", 0x1010, 4, "RW", 0},        // M3: 0x1010
    {"DMA_QUEUE_CONTROL", 0x1018, 4, "RW", 0},
    {"DMA_QUEUE_STATUS", 0x101C, 4, "RO", 0},
    {"EVENT_RECORD_BASE", 0x1020, 8, "RW", 0},
    {"PAGE_COPY_CONTROL", 0x1028, 4, "RW", 0},
    {"PAGE_COPY_BASE", 0x1030, 8, "RW", 0},
    {"PAGE_COPY_SOURCE", 0x1038, 8, "RW", 0},
    {"PAGE_COPY_DESTINATION", 0x1040, 8, "RW", 0},
    {"PAGE_COPY_SIZE", 0x1048, 8, "RW", 0},
    {"PAGE_COPY_START", 0x1050, 4, "RW", 0},
    {"PAGE_COPY_PROGRESS", 0x1058, 8, "RO", 0},
};

const GoldenRegister kGoldenStream[] = {
    {"STREAM_CONTROL", 0x00, 4, "RW", 0},   {"STREAM_VECTOR", 0x04, 4, "RW", 0},
    {"STREAM_STATUS", 0x08, 4, "RO", 0},    {"STREAM_FAULT", 0x0C, 4, "RO", 0},
    {"STREAM_COMPLETED", 0x10, 8, "RO", 0}, {"STREAM_VMID", 0x18, 4, "RW", 0},
};

const GoldenRegister kGoldenControl[] = {
    {"CONTROL_STATUS", 0x00, 4, "RO", 0},    {"FAULT_NEXT", 0x10, 4, "RW", 0},
    {"FAULT_LOW", 0x14, 4, "RO", 0},         {"FAULT_HIGH", 0x18, 4, "RO", 0},
    {"FAULT_ACCESS_INFO", 0x1C, 4, "RO", 0}, {"REPLY_LOW", 0x20, 4, "RW", 0},
    {"REPLY_HIGH", 0x24, 4, "RW", 0},        {"REPLY", 0x28, 4, "RW", 0},
    {"INVALIDATE_LOW", 0x30, 4, "RW", 0},    {"INVALIDATE_HIGH", 0x34, 4, "RW", 0},
    {"INVALIDATE", 0x38, 4, "RW", 0},        {"INBOX_NEXT", 0x40, 4, "RW", 0},
    {"OUTBOX_SEND", 0x44, 4, "RW", 0},
};

template <class Golden, class Table>
void expect_same(const Golden& golden, const Table& table) {
  ASSERT_EQ(std::size(golden), table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(golden[i].name);
    EXPECT_EQ(table[i].name, golden[i].name);
    EXPECT_EQ(table[i].offset, golden[i].offset);
    EXPECT_EQ(table[i].size, golden[i].size);
    EXPECT_EQ(to_string(table[i].access), golden[i].access);
    EXPECT_EQ(table[i].reset, golden[i].reset);
  }
}

TEST(GoldenRegisters, Bar0) {
  expect_same(kGoldenBar0, kBar0Table);
}

TEST(GoldenRegisters, StreamWindow) {
  expect_same(kGoldenStream, kStreamTable);
}

TEST(GoldenRegisters, ControlWindow) {
  expect_same(kGoldenControl, kControlTable);
}

// The raw value of a register with one field set, worked out by hand.
TEST(GoldenFields, SettingAFieldTouchesItsBitsOnly) {
  auto chip = ChipId::from_raw(0xFFFFFFFF);
  EXPECT_EQ(chip.set<ChipId::Device>(0xD110).raw, 0xD110FFFFU);
  EXPECT_EQ(chip.get<ChipId::Device>(), 0xD110U);
  DmaQueueControl control;
  control.set<DmaQueueControl::HostMemory>(3);  // more than fits
  EXPECT_EQ(control.raw, 0x2U);
}

}  // namespace
}  // namespace npu::abi
