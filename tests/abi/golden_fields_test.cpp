// SPDX-License-Identifier: Apache-2.0
// Golden bits of the registers' fields: said a second time on purpose, so that a change of one is
// seen. Half of the rows were copied from the headers when the table was made: they say nothing on
// whether those bits were right. A register that is not here has no fields.
#include <gtest/gtest.h>

#include <string>

#include "npu/abi/register_reference.hpp"

namespace npu::abi {
namespace {

struct GoldenField {
  const char* of;
  const char* name;
  unsigned high, low;
  const char* access;
};

const GoldenField kGoldenBar0Fields[] = {
    {"CHIP_ID", "Vendor", 15, 0, "RO"},
    {"CHIP_ID", "Device", 31, 16, "RO"},
    {"CHIP_REVISION", "AbiVersion", 15, 0, "RO"},
    {"CHIP_REVISION", "Silicon", 23, 16, "RO"},
    {"DEVICE_STATUS", "Ready", 0, 0, "RO"},
    {"DEVICE_STATUS", "FaultPending", 1, 1, "RO"},
    {"DEVICE_STATUS", "PagesIsolated", 2, 2, "RO"},
    {"FAULT_STATUS", "Valid", 0, 0, "RW1C"},
    {"FAULT_STATUS", "Overflow", 1, 1, "RW1C"},
    {"FAULT_CODE", "Code", 15, 0, "RO"},
    {"FAULT_CODE", "Opcode", 23, 16, "RO"},
    {"FAULT_CODE", "Engine", 31, 24, "RO"},
    {"FAULT_INFO", "Stream", 15, 0, "RO"},
    {"FAULT_INFO", "RingIndex", 31, 16, "RO"},
    {"FAULT_ACCESS", "Vmid", 7, 0, "RO"},
    {"FAULT_ACCESS", "Write", 8, 8, "RO"},
    {"HCCS_ACCESS", "Open", 31, 0, "RW"},
    {"HCCS_ACCESS_1", "Open", 31, 0, "RW"},
    {"HCCS_ACCESS_2", "Open", 31, 0, "RW"},
    {"HCCS_ACCESS_3", "Open", 31, 0, "RW"},
    {"HCCS_ACCESS_4", "Open", 31, 0, "RW"},
    {"HCCS_ACCESS_5", "Open", 31, 0, "RW"},
    {"HCCS_ACCESS_6", "Open", 31, 0, "RW"},
    {"HCCS_ACCESS_7", "Open", 31, 0, "RW"},
    {"HCCS_ACCESS_8", "Open", 31, 0, "RW"},
    {"HCCS_ACCESS_9", "Open", 31, 0, "RW"},
    {"HCCS_ACCESS_10", "Open", 31, 0, "RW"},
    {"HCCS_ACCESS_11", "Open", 31, 0, "RW"},
    {"MMU_INVALIDATE", "Vmid", 7, 0, "RW"},
    {"MMU_INVALIDATE", "Scope", 9, 8, "RW"},
    {"MMU_INVALIDATE", "Start", 31, 31, "RW"},
    {"PAGE_INVALIDATE", "Vmid", 7, 0, "RW"},
    {"PAGE_INVALIDATE", "Number", 15, 8, "RW"},
    {"PAGE_INVALIDATE", "WritesLost", 30, 30, "RO"},
    {"PAGE_INVALIDATE", "Start", 31, 31, "RW"},
    {"HCCS_LINKS", "Up", 31, 0, "RO"},
    {"HCCS_LINKS", "Cards", 47, 32, "RO"},
    {"HCCS_LINKS_1", "Up", 31, 0, "RO"},
    {"HCCS_LINKS_1", "Cards", 47, 32, "RO"},
    {"HCCS_LINKS_2", "Up", 31, 0, "RO"},
    {"HCCS_LINKS_2", "Cards", 47, 32, "RO"},
    {"HCCS_LINKS_3", "Up", 31, 0, "RO"},
    {"HCCS_LINKS_3", "Cards", 47, 32, "RO"},
    {"HCCS_LINKS_4", "Up", 31, 0, "RO"},
    {"HCCS_LINKS_4", "Cards", 47, 32, "RO"},
    {"HCCS_LINKS_5", "Up", 31, 0, "RO"},
    {"HCCS_LINKS_5", "Cards", 47, 32, "RO"},
    {"HCCS_LINKS_6", "Up", 31, 0, "RO"},
    {"HCCS_LINKS_6", "Cards", 47, 32, "RO"},
    {"HCCS_LINKS_7", "Up", 31, 0, "RO"},
    {"HCCS_LINKS_7", "Cards", 47, 32, "RO"},
    {"HCCS_LINKS_8", "Up", 31, 0, "RO"},
    {"HCCS_LINKS_8", "Cards", 47, 32, "RO"},
    {"HCCS_LINKS_9", "Up", 31, 0, "RO"},
    {"HCCS_LINKS_9", "Cards", 47, 32, "RO"},
    {"HCCS_LINKS_10", "Up", 31, 0, "RO"},
    {"HCCS_LINKS_10", "Cards", 47, 32, "RO"},
    {"HCCS_LINKS_11", "Up", 31, 0, "RO"},
    {"HCCS_LINKS_11", "Cards", 47, 32, "RO"},
    {"QUEUE_CAPABILITY", "Slots", 15, 0, "RO"},
    {"QUEUE_CAPABILITY", "DoorbellPages", 31, 16, "RO"},
    {"QUEUE_CORES", "AiCores", 15, 0, "RO"},
    {"QUEUE_CORES", "Aicpus", 31, 16, "RO"},
    {"MANAGEMENT_CONTROL", "Enable", 0, 0, "RW"},
    {"MANAGEMENT_CONTROL", "HostMemory", 1, 1, "RW"},
    {"MANAGEMENT_CONTROL", "Log2Entries", 11, 8, "RW"},
    {"MANAGEMENT_STATUS", "Enabled", 0, 0, "RO"},
    {"MANAGEMENT_STATUS", "Idle", 1, 1, "RO"},
    {"MANAGEMENT_STATUS", "Halted", 2, 2, "RO"},
    {"QUEUE_FAULT_CONTROL", "Log2Records", 3, 0, "RW"},
    {"QUEUE_FAULT_CONTROL", "Vector", 31, 16, "RW"},
    {"CORE_TOPOLOGY", "Clusters", 15, 0, "RO"},
    {"CORE_TOPOLOGY", "VectorCores", 23, 16, "RO"},
    {"PAGE_FAULT_SPACES", "Vmids", 18, 0, "RW"},
    {"PAGE_FAULT_CONTROL", "Enable", 0, 0, "RW"},
    {"PAGE_FAULT_CONTROL", "ToControl", 1, 1, "RW"},
    {"PAGE_FAULT_CONTROL", "Log2Records", 7, 4, "RW"},
    {"PAGE_FAULT_CONTROL", "Vector", 31, 16, "RW"},
    {"PAGE_FAULT_REPLY", "Vmid", 7, 0, "RW"},
    {"PAGE_FAULT_REPLY", "WholeSpace", 8, 8, "RW"},
    {"PAGE_FAULT_REPLY", "Abort", 9, 9, "RW"},
    {"PAGE_FAULT_REPLY", "Start", 31, 31, "RW"},
    {"PAGE_RESIDENCY_BASE", "Enable", 0, 0, "RW"},
    {"PAGE_RESIDENCY_BASE", "Address", 47, 6, "RW"},
    {"PAGE_FAULT_MODE", "ByHost", 0, 0, "RO"},
    {"PAGE_FAULT_MODE", "HostPages", 1, 1, "RO"},
    {"SHARED_SPACE", "Pasid", 19, 0, "RW"},
    {"SHARED_SPACE", "Vmid", 24, 20, "RW"},
    {"SHARED_SPACE", "Enable", 31, 31, "RW"},
    {"PAGE_FAULT_WAITING", "Count", 15, 0, "RO"},
    {"PAGE_FAULT_WAITING", "WritesLost", 31, 31, "RO"},
    {"CONTROL_STATE", "Start", 0, 0, "RW"},
    {"CONTROL_STATE", "Running", 1, 1, "RO"},
    {"CONTROL_STATE", "Ended", 2, 2, "RO"},
    {"CONTROL_STATE", "Fault", 31, 16, "RO"},
    {"MESSAGE_CONTROL", "Enable", 0, 0, "RW"},
    {"MESSAGE_CONTROL", "Log2Messages", 7, 4, "RW"},
    {"MESSAGE_CONTROL", "Vector", 31, 16, "RW"},
    {"MESSAGE_SEND", "Words", 23, 22, "RW"},
    {"MESSAGE_SEND", "Number", 31, 24, "RW"},
    {"PARTITION_CAPABILITY", "Functions", 7, 0, "RO"},
    {"PARTITION_CAPABILITY", "Templates", 15, 8, "RO"},
    {"PARTITION_CAPABILITY", "Function", 31, 24, "RO"},
    {"PARTITION_STATUS", "Busy", 0, 0, "RO"},
    {"PARTITION_STATUS", "Code", 15, 8, "RO"},
    {"PARTITION_COMMAND", "Operation", 7, 0, "RW"},
    {"PARTITION_COMMAND", "Index", 15, 8, "RW"},
    {"PARTITION_CORES", "First", 15, 0, "RW"},
    {"PARTITION_CORES", "Count", 31, 16, "RW"},
    {"PARTITION_AICPUS", "First", 15, 0, "RW"},
    {"PARTITION_AICPUS", "Count", 31, 16, "RW"},
    {"PARTITION_MEDIA", "Vpc", 7, 0, "RW"},
    {"PARTITION_MEDIA", "Jpegd", 15, 8, "RW"},
    {"PARTITION_MEDIA", "Jpege", 23, 16, "RW"},
    {"PARTITION_MEDIA", "Venc", 31, 24, "RW"},
    {"PARTITION_MEDIA", "Vdec", 39, 32, "RW"},
    {"PARTITION_GROUP", "Group", 7, 0, "RW"},
    {"PARTITION_GROUP", "Vip", 8, 8, "RW"},
    {"PARTITION_WEIGHTS", "Dma", 7, 0, "RW"},
    {"PARTITION_WEIGHTS", "Hbm", 15, 8, "RW"},
    {"PARTITION_WEIGHTS", "Link", 23, 16, "RW"},
    {"PARTITION_TOKENS", "Token", 31, 0, "RW"},
    {"PARTITION_TOKENS", "Maximum", 63, 32, "RW"},
    {"TELEMETRY_CAPABILITY", "Cores", 0, 0, "RO"},
    {"TELEMETRY_CAPABILITY", "Aicpus", 1, 1, "RO"},
    {"TELEMETRY_CAPABILITY", "Memory", 2, 2, "RO"},
    {"TELEMETRY_CAPABILITY", "Link", 3, 3, "RO"},
    {"TELEMETRY_CAPABILITY", "Ecc", 4, 4, "RO"},
    {"TELEMETRY_CAPABILITY", "Spaces", 5, 5, "RO"},
    {"TELEMETRY_CAPABILITY", "Hccs", 6, 6, "RO"},
    {"TELEMETRY_CAPABILITY", "EventWords", 15, 8, "RO"},
    {"CORE_CLOCK", "Rated", 15, 0, "RO"},
    {"CORE_CLOCK", "Present", 31, 16, "RO"},
    {"AICPU_CLOCK", "Rated", 15, 0, "RO"},
    {"AICPU_CLOCK", "Present", 31, 16, "RO"},
    {"HBM_CLOCK", "Command", 15, 0, "RO"},
    {"ECC_INJECT", "Bits", 1, 0, "RW"},
    {"ECC_CLEAR", "Record", 0, 0, "RW"},
    {"HEALTH_STATUS", "Worst", 1, 0, "RO"},
    {"HEALTH_STATUS", "MemorySingle", 8, 8, "RO"},
    {"HEALTH_STATUS", "MemoryDouble", 9, 9, "RO"},
    {"HEALTH_STATUS", "Temperature", 10, 10, "RO"},
    {"DMA_CONSUMER_INDEX", "Index", 15, 0, "RO"},
    {"DMA_DOORBELL", "ProducerIndex", 15, 0, "RW"},
    {"DMA_QUEUE_CONTROL", "Enable", 0, 0, "RW"},
    {"DMA_QUEUE_CONTROL", "HostMemory", 1, 1, "RW"},
    {"DMA_QUEUE_STATUS", "Enabled", 0, 0, "RO"},
    {"DMA_QUEUE_STATUS", "Idle", 1, 1, "RO"},
    {"DMA_QUEUE_STATUS", "Halted", 2, 2, "RO"},
    {"PAGE_COPY_CONTROL", "Enable", 0, 0, "RW"},
    {"PAGE_COPY_CONTROL", "Vector", 31, 16, "RW"},
    {"PAGE_COPY_START", "Number", 15, 0, "RW"},
    {"PAGE_COPY_START", "Opcode", 23, 16, "RW"},
    {"PAGE_COPY_PROGRESS", "Accepted", 31, 0, "RO"},
    {"PAGE_COPY_PROGRESS", "Ended", 63, 32, "RO"},
};

const GoldenField kGoldenEventFields[] = {
    {"EVENT", "Count", 31, 0, "RO"},
    {"EVENT", "Fault", 47, 32, "RO"},
};

const GoldenField kGoldenStreamFields[] = {
    {"STREAM_CONTROL", "Enable", 0, 0, "RW"},
    {"STREAM_VECTOR", "Vector", 15, 0, "RW"},
    {"STREAM_STATUS", "Busy", 0, 0, "RO"},
    {"STREAM_VMID", "Vmid", 7, 0, "RW"},
};

const GoldenField kGoldenCoreFields[] = {
    {"CORE_CTRL", "PmuEnable", 0, 0, "RW"},   {"CORE_STATUS", "Exception", 15, 0, "RO"},
    {"CORE_STATUS", "Running", 16, 16, "RO"}, {"COND", "Id", 30, 0, "RO"},
    {"COND", "Finished", 31, 31, "RO"},
};

const GoldenField kGoldenControlFields[] = {
    {"CONTROL_STATUS", "Faults", 7, 0, "RO"},
    {"CONTROL_STATUS", "Messages", 15, 8, "RO"},
    {"CONTROL_STATUS", "Room", 23, 16, "RO"},
    {"CONTROL_STATUS", "Invalidating", 31, 31, "RO"},
    {"FAULT_ACCESS_INFO", "Core", 15, 0, "RO"},
    {"FAULT_ACCESS_INFO", "Vmid", 20, 16, "RO"},
    {"FAULT_ACCESS_INFO", "Write", 21, 21, "RO"},
    {"FAULT_ACCESS_INFO", "Forbidden", 22, 22, "RO"},
    {"FAULT_ACCESS_INFO", "Unit", 26, 24, "RO"},
    {"FAULT_ACCESS_INFO", "Valid", 31, 31, "RO"},
    {"REPLY", "Vmid", 7, 0, "RW"},
    {"REPLY", "Abort", 9, 9, "RW"},
    {"INVALIDATE", "Vmid", 7, 0, "RW"},
    {"INVALIDATE", "WholeSpace", 8, 8, "RW"},
};

template <class Golden, class Fields>
void expect_fields(const Golden& golden, const Fields& fields) {
  std::size_t count = 0;
  for (const auto& field : fields) {
    if (field.name.empty()) continue;
    ASSERT_LT(count, std::size(golden)) << field.of << "." << field.name;
    const auto& row = golden[count++];
    SCOPED_TRACE(std::string(row.of) + "." + row.name);
    EXPECT_EQ(field.of, row.of);
    EXPECT_EQ(field.name, row.name);
    EXPECT_EQ(field.high, row.high);
    EXPECT_EQ(field.low, row.low);
    EXPECT_EQ(to_string(field.access), row.access);
    EXPECT_EQ(field.reset, 0U);
  }
  EXPECT_EQ(count, std::size(golden));
}

TEST(GoldenFields, Bar0) {
  expect_fields(kGoldenBar0Fields, kBar0Fields);
}

TEST(GoldenFields, Event) {
  expect_fields(kGoldenEventFields, kEventFields);
}

TEST(GoldenFields, StreamWindow) {
  expect_fields(kGoldenStreamFields, kStreamFields);
}

TEST(GoldenFields, CoreWindow) {
  expect_fields(kGoldenCoreFields, kCoreFields);
}

TEST(GoldenFields, ControlWindow) {
  expect_fields(kGoldenControlFields, kControlFields);
}

TEST(RegisterReference, EveryRowHasAMeaningOnOneLine) {
  for (const auto& block : kRegisterBlocks) {
    for (const auto* field = block.fields; field != block.fields_end; ++field) {
      SCOPED_TRACE(std::string(field->of) + "." + std::string(field->name));
      EXPECT_FALSE(field->meaning.empty());
      EXPECT_EQ(field->meaning.find('\n'), std::string_view::npos);
      EXPECT_EQ(field->unit.empty(), !field->name.empty()) << "a unit says what a whole value is";
    }
  }
}

TEST(RegisterReference, AWholeValueHasTheBitsOfItsRegister) {
  for (const auto& block : kRegisterBlocks) {
    const auto* row = block.begin;
    for (const auto* field = block.fields; field != block.fields_end; ++field) {
      while (row != block.end && row->name != field->of) ++row;
      ASSERT_NE(row, block.end) << field->of;
      EXPECT_LT(field->high, 8 * row->size) << field->of;
      if (!field->name.empty()) continue;
      EXPECT_EQ(field->high + 1 - field->low, 8 * row->size) << field->of;
    }
  }
}

struct Sample : Register<Sample, std::uint32_t, 0, Access::kReadWrite, 0x1230> {
  static constexpr std::string_view kName = "SAMPLE";
  NPU_FIELD(Part, 11, 4, "has a reset value");
  NPU_READ_ONLY_FIELD(State, 31, 31, "only the device writes it");
};

TEST(RegisterReference, TypeAndRowOfAFieldAreOneDeclaration) {
  const auto rows = make_fields(RegisterList<Sample>{});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].reset, 0x23U);
  EXPECT_EQ(rows[0].access, Access::kReadWrite);
  EXPECT_EQ(rows[1].access, Access::kReadOnly);
  EXPECT_EQ(Sample::Part::kMask, 0xFF0U);
  EXPECT_EQ(Sample::State::kMask, 0x80000000U);
}

}  // namespace
}  // namespace npu::abi
